package io.github.roost.simulator;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchFunction;
import io.github.roost.topology.TopologyReader;

/** An orchestrator with one worker, on which the whole cost of a search (submission, execution, completion) is time of one thread. */
final class OneWorker implements AutoCloseable {
    private static final int ROUNDS = 8;
    private static final long ROUND_NANOS = 1_500_000;
    /** Subtasks of searches that the worker waits for stay in its ring until it takes them; the ring holds those of a whole measurement. */
    private static final int MAX_TASKS = 1 << 17;

    private static final long MAX_WAIT_NANOS = 1_000_000_000;

    /** Number of repetitions of each measurement, so that no shape is disturbed by other processes every time. */
    static final int PASSES = 4;

    /** Warm-up in nanoseconds, for code that the JIT has not compiled yet, and for code that it has. */
    static final long COLD = 1_000_000_000;

    static final long SEEN = 20_000_000;

    private final Orchestrator orchestrator = Orchestrator.builder()
            .recallShare(0)
            .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
            .ringCapacity(MAX_TASKS)
            .build();

    /** The measured work. */
    interface Work {
        /**
         * Does the work once.
         *
         * @param repeat number of the repetition, from 0
         */
        void run(int repeat) throws Exception;
    }

    Orchestrator orchestrator() {
        return orchestrator;
    }

    /** Time per repetition on the worker: the min of several short rounds, because other processes can only add to it. */
    double nanos(Work work) {
        SearchFunction<Integer, Double> rounds = (first, context) -> {
            double min = Double.MAX_VALUE;
            int repeats = repeatsIn(work);
            int next = repeats;
            for (int round = 0; round < ROUNDS; round++) {
                long began = System.nanoTime();
                for (int end = next + repeats; next < end; next++) {
                    work.run(next);
                }
                min = Math.min(min, (double) (System.nanoTime() - began) / repeats);
            }
            return min;
        };
        MappingId id = orchestrator.register("measured").id();
        long giveUp = System.nanoTime() + MAX_WAIT_NANOS;
        while (true) {
            try {
                return orchestrator.submit(rounds, 0, id).join();
            } catch (RejectedSearchException full) {
                // Searches that the worker waited for itself may have left empty tasks in the ring; the worker drains
                // them now.
                if (System.nanoTime() > giveUp) {
                    throw full;
                }
                Thread.onSpinWait();
            }
        }
    }

    /** Like {@link #nanos}, after {@code warmUp} nanoseconds of warm-up. */
    double warmNanos(Work work, long warmUp) {
        for (long began = System.nanoTime(); System.nanoTime() - began < warmUp; ) {
            nanos(work);
        }
        return nanos(work);
    }

    /** The number of repetitions per round. */
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
