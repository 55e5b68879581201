package io.github.roost.index.ivf;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SubmitOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Spreads work over ranges to an orchestrator's workers, at batch priority, and waits for it. */
final class BackgroundWork {
    /** Work on rows {@code from} to {@code to} exclusive. */
    @FunctionalInterface
    interface Range {
        void run(int from, int to);
    }

    private final Orchestrator orchestrator;
    private final Registration registration;

    BackgroundWork(Orchestrator orchestrator, Registration registration) {
        this.orchestrator = orchestrator;
        this.registration = registration;
    }

    /** Runs all of 0 to {@code count} in steps; the first failure is thrown after every task has ended. */
    void run(int count, int step, Range range) {
        AtomicInteger next = new AtomicInteger();
        int steps = (count + step - 1) / step;
        Runnable drain = () -> {
            for (int i = next.getAndIncrement(); i < steps; i = next.getAndIncrement()) {
                int from = i * step;
                range.run(from, Math.min(count, from + step));
            }
        };
        List<CompletableFuture<Boolean>> tasks = new ArrayList<>();
        for (int task = 0; task < Math.min(steps, orchestrator.workers()); task++) {
            try {
                tasks.add(orchestrator.<Runnable, Boolean>submit(
                        (work, context) -> {
                            work.run();
                            return true;
                        },
                        drain,
                        registration.id(task % registration.clusters()),
                        SubmitOptions.BATCH));
            } catch (RejectedSearchException full) {
                // What the workers have no room for, the building thread does itself.
                break;
            }
        }
        CompletionException failure = null;
        for (CompletableFuture<Boolean> task : tasks) {
            try {
                task.join();
            } catch (CompletionException thrown) {
                failure = failure == null ? thrown : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
        drain.run();
    }
}
