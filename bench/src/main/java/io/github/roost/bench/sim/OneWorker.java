package io.github.roost.bench.sim;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.topology.TopologyReader;

/**
 * An orchestrator of one worker, on which all that a search costs takes time of the same thread: submitting, running,
 * completing.
 */
final class OneWorker implements AutoCloseable {
    private static final int ROUNDS = 8;
    private static final long ROUND_NANOS = 1_500_000;
    /** What the parts of searches that the worker waits for itself leave in its ring until it comes to them: all of a measurement. */
    private static final int MAX_TASKS = 1 << 17;

    private static final long MAX_WAIT_NANOS = 1_000_000_000;

    /** How often everything is measured, so that nothing is while something else runs each time. */
    static final int PASSES = 4;

    /** For code that the compiler has not seen, and for code that it has. */
    static final long COLD = 1_000_000_000;

    static final long SEEN = 20_000_000;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .ringCapacity(MAX_TASKS)
            .build();

    /** What is measured. */
    interface Work {
        /**
         * Does it once.
         *
         * @param repeat from 0
         */
        void run(int repeat) throws Exception;
    }

    Orchestrator orchestrator() {
        return orchestrator;
    }

    /** How long a repeat takes on the worker: the least of several short rounds, since what else runs can only add to it. */
    double nanos(Work work) {
        SearchFunction<Integer, Double> rounds = (first, context) -> {
            double least = Double.MAX_VALUE;
            int repeats = repeatsIn(work);
            int next = repeats;
            for (int round = 0; round < ROUNDS; round++) {
                long began = System.nanoTime();
                for (int end = next + repeats; next < end; next++) {
                    work.run(next);
                }
                least = Math.min(least, (double) (System.nanoTime() - began) / repeats);
            }
            return least;
        };
        MappingId id = orchestrator.register("measured").id();
        long giveUp = System.nanoTime() + MAX_WAIT_NANOS;
        while (true) {
            try {
                return orchestrator.submit(rounds, 0, id).join();
            } catch (RejectedSearchException full) {
                // Searches that the worker waited for itself may have left tasks with nothing to do, which it takes
                // now.
                if (System.nanoTime() > giveUp) {
                    throw full;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** As {@link #nanos}, after so many nanoseconds for the compiler. */
    double warmNanos(Work work, long warmUp) {
        for (long began = System.nanoTime(); System.nanoTime() - began < warmUp; ) {
            nanos(work);
        }
        return nanos(work);
    }

    /** How many make a round. */
    private static int repeatsIn(Work work) throws Exception {
        int repeats = 0;
        for (long began = System.nanoTime(); System.nanoTime() - began < ROUND_NANOS; repeats++) {
            work.run(repeats);
        }
        return repeats;
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
