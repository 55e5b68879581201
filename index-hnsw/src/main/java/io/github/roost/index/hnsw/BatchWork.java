package io.github.roost.index.hnsw;

import io.github.roost.core.Orchestrator;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/**
 * The steps of a build, each of them batch work on an orchestrator's workers, also where it cannot be shared among them: in
 * a thread of its own it would take a core away from a worker, for milliseconds in which the searches of that one wait.
 * Each call returns when all of it is done; what the workers wrote is then visible to the caller, and to the next call's
 * workers.
 *
 * @param orchestrator whose workers
 * @param name what the work shows as in reports
 */
record BatchWork(Orchestrator orchestrator, String name) {
    /**
     * Does something for numbers 0 to {@code count}, on all workers, giving way between two.
     *
     * @param run how many numbers follow each other before a worker turns to other batch work
     */
    void forEach(int count, int run, IntConsumer each) {
        orchestrator.runBatch(name, (count + run - 1) / run, piece -> {
            for (int number = piece * run; number < Math.min(count, (piece + 1) * run); number++) {
                giveWay();
                each.accept(number);
            }
        });
    }

    /** Does something on one worker and returns its result; it gives way itself. */
    <T> T once(Supplier<T> step) {
        CompletableFuture<T> result = new CompletableFuture<>();
        orchestrator.runBatch(name, 1, piece -> result.complete(step.get()));
        return result.join();
    }

    /** Lets searches that wait go first. */
    void giveWay() {
        orchestrator.giveWay();
    }
}
