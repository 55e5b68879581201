package io.github.roost.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What a test opens and blocks. All of it ends with the test, also where the test fails midway: gates open, and orchestrators close without
 * patience, since a failed test may leave searches that never end.
 */
final class TestBed implements AfterEachCallback {
    /** Answers with its query. */
    static final SearchFunction<Integer, Integer> SAME = (query, context) -> query;

    private static final long HANG_SECONDS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final List<CountDownLatch> gates = new ArrayList<>();
    private final List<Runnable> endings = new ArrayList<>();
    private final List<Orchestrator> orchestrators = new ArrayList<>();

    Orchestrator open(Orchestrator.Builder builder) {
        Orchestrator opened = builder.build();
        orchestrators.add(opened);
        return opened;
    }

    /** A latch of one that the end of the test opens. */
    CountDownLatch gate() {
        CountDownLatch gate = new CountDownLatch(1);
        gates.add(gate);
        return gate;
    }

    /** Runs an action at the end of the test, after the gates have opened and before the orchestrators close. */
    void atEnd(Runnable ending) {
        endings.add(ending);
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        gates.forEach(CountDownLatch::countDown);
        endings.forEach(Runnable::run);
        for (Orchestrator orchestrator : orchestrators) {
            // In a thread of its own: a close that hangs must not keep the build.
            Thread closer = Thread.ofPlatform().daemon().start(() -> orchestrator.close(PATIENCE));
            closer.join(Duration.ofSeconds(HANG_SECONDS));
        }
    }

    /** The result of what ends soon, unless it hangs. */
    static <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(HANG_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new AssertionError("it must end within " + HANG_SECONDS + " s, but did not", late);
        }
    }

    /** Waits until each future is done, with a result or without one; fails if one hangs. */
    static void done(Iterable<? extends Future<?>> futures) throws Exception {
        for (Future<?> future : futures) {
            try {
                var _ = get(future);
            } catch (ExecutionException | CancellationException ended) {
                // It has ended, which is all that this waits for.
            }
        }
    }

    /** Waits until a condition holds; fails if it does not soon. */
    static void until(BooleanSupplier condition) throws InterruptedException {
        long began = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - began > TimeUnit.SECONDS.toNanos(HANG_SECONDS)) {
                throw new AssertionError("it must hold within " + HANG_SECONDS + " s, but did not");
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    /** Waits for what occurs soon, unless something hangs. */
    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(HANG_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("it must occur within " + HANG_SECONDS + " s, but did not");
        }
    }

    /** A search that holds its worker until the gate opens. */
    static SearchFunction<Integer, Integer> holding(CountDownLatch begun, CountDownLatch gate) {
        return (query, context) -> {
            begun.countDown();
            gate.await();
            return query;
        };
    }
}
