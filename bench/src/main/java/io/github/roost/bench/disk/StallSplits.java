package io.github.roost.bench.disk;

import io.github.roost.bench.disk.StallRecording.Cycle;
import io.github.roost.core.stall.StallFilling;
import io.github.roost.core.stall.StallPolicy;
import java.util.SplittableRandom;

/**
 * Question: with so many workers that search and so many that update, how many updates do the stalls of the former add, and what do
 * their searches pay? In virtual time, by the classes that decide in a worker ({@link StallFilling} and what it uses), fed with recorded
 * stalls and costs of steps. Baseline: the stalls stay empty.
 *
 * <p>Workers do not slow each other here: neither the disk nor memory, nor one writer's order of updates, is shared. So what it says for
 * many workers is what the mechanism allows, and not what a machine would.
 */
public final class StallSplits {
    private static final int SEARCHES_IN_A_ROW = 64;
    private static final long LOOK_NANOS = 500;
    /** Of workers that are alike and do not know of each other; the others are as these are in the mean. */
    private static final int MAX_SIMULATED = 4;

    private final StallRecording recording;
    private final int cycles;

    /**
     * What a split comes to.
     *
     * @param updatesPerSecond of all workers
     * @param besideEmpty updates beside those with empty stalls
     * @param longer by which searches take longer than with empty stalls, as a share
     * @param share of stalls that a latency target left to maintenance at the end, the mean of the workers
     */
    public record Outcome(double updatesPerSecond, double besideEmpty, double longer, double share) {}

    /**
     * A simulation.
     *
     * @param recording what stalls and steps are like
     * @param cycles of each worker that searches: half of them not counted, in which it learns
     */
    public StallSplits(StallRecording recording, int cycles) {
        this.recording = recording;
        this.cycles = cycles;
    }

    /** Simulates a split. */
    public Outcome run(int searchers, int updaters, StallPolicy policy, long seed) {
        double nanos = 0;
        double alone = 0;
        double filled = 0;
        double share = 0;
        int simulated = Math.min(searchers, MAX_SIMULATED);
        for (int i = 0; i < simulated; i++) {
            Searcher searcher = new Searcher(policy, new SplittableRandom(seed + i));
            searcher.run(cycles / 2);
            searcher.clear();
            searcher.run(cycles - cycles / 2);
            nanos += searcher.nanos;
            alone += searcher.alone;
            filled += searcher.filled;
            share += searcher.filling.stats().share() / simulated;
        }
        // Each for as long as it ran: a second of all is so many seconds of one.
        double inStalls = searchers * filled / nanos;
        return new Outcome(
                (updaters + inStalls) * 1e9 / recording.updateNanos(),
                1 + inStalls / updaters,
                nanos / alone - 1,
                share);
    }

    /** A worker with one search after the other. */
    private final class Searcher {
        final StallFilling filling;
        private final SplittableRandom random;
        private long now;
        private int next;
        private int left;
        long nanos;
        long alone;
        long filled;

        Searcher(StallPolicy policy, SplittableRandom random) {
            this.filling = new StallFilling(policy);
            this.random = random;
        }

        void clear() {
            nanos = 0;
            alone = 0;
            filled = 0;
        }

        void run(int count) {
            for (int i = 0; i < count; i++) {
                cycle();
            }
        }

        /** Some that followed each other are taken in a row: a disk is slow for a while. */
        private Cycle draw() {
            if (left-- == 0) {
                left = SEARCHES_IN_A_ROW - 1;
                next = random.nextInt(recording.cycles().size());
            }
            return recording.cycles().get(next++ % recording.cycles().size());
        }

        private static long one(long[] of, SplittableRandom random) {
            return of[random.nextInt(of.length)];
        }

        private void cycle() {
            Cycle cycle = draw();
            long began = now;
            long arrival = now + cycle.stallNanos();
            filling.begins(now, cycle.reads());
            boolean any = false;
            while (now < arrival) {
                long may = filling.mayRun(now);
                if (may == 0) {
                    // Nothing is run in it any more, unless it lasts long.
                    now = Math.min(arrival, now + LOOK_NANOS);
                    continue;
                }
                long step = Math.max(LOOK_NANOS, may - StallPolicy.STEP_NANOS + one(recording.stepNanos(), random));
                filling.ran(now, now + step);
                filled += step;
                now += step;
                any = true;
            }
            filling.ends(now);
            long computed = any ? one(recording.computedAfterFilled(), random) : cycle.computedNanos();
            now += computed;
            nanos += now - began;
            alone += cycle.stallNanos() + cycle.computedNanos();
        }
    }
}
