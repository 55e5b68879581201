package io.github.roost.bench.disk;

import io.github.roost.bench.disk.StallRecording.Cycle;
import io.github.roost.core.spi.Indexing;
import io.github.roost.index.disk.stall.StallPolicy;
import java.util.SplittableRandom;

/**
 * Question: with given numbers of searching and updating workers, how many updates do the stalls of the searching workers add, and how much slower
 * do their searches get? Simulated on virtual time with the workers' decision classes ({@link StallPolicy#rules}), driven by
 * recorded stalls and step durations. Baseline: the stalls stay empty.
 *
 * <p>Workers do not slow each other down in this model: disk, memory and the order of updates of a single writer are not shared. So results for many
 * workers show the potential of the mechanism, not the throughput of a real machine.
 */
public final class StallSplits {
    private static final int SEARCHES_IN_A_ROW = 64;
    private static final long LOOK_NANOS = 500;
    /** Workers are alike and independent, so the mean of a few stands for all. */
    private static final int MAX_SIMULATED = 4;

    private final StallRecording recording;
    private final int cycles;

    /**
     * The result of a split.
     *
     * @param updatesPerSecond of all workers
     * @param besideEmpty updates relative to updates with empty stalls
     * @param longer relative increase of the time of searches over empty stalls
     * @param share of stalls that a latency target left to maintenance at the end, mean over the workers
     */
    public record Outcome(double updatesPerSecond, double besideEmpty, double longer, double share) {}

    /**
     * Creates a simulation.
     *
     * @param recording of stalls and steps
     * @param cycles per searching worker; the first half is not counted, the policy learns in it
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
            share += searcher.rules.stats().share() / simulated;
        }
        // Each worker ran for its own time; this is the mean number of workers that are filling stalls.
        double inStalls = searchers * filled / nanos;
        return new Outcome(
                (updaters + inStalls) * 1e9 / recording.updateNanos(),
                1 + inStalls / updaters,
                nanos / alone - 1,
                share);
    }

    /** A worker that runs one search after the other. */
    private final class Searcher {
        final StallPolicy.Rules rules;
        private final Indexing.StallRule filling;
        private final SplittableRandom random;
        private long now;
        private int next;
        private int left;
        long nanos;
        long alone;
        long filled;

        Searcher(StallPolicy policy, SplittableRandom random) {
            this.rules = policy.rules(1);
            this.filling = rules.open(0);
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

        /** Draws runs of consecutive cycles, because a disk can be slow for a while. */
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
                    // No further step fits in the stall, unless it turns out to be long.
                    now = Math.min(arrival, now + LOOK_NANOS);
                    continue;
                }
                long step = Math.max(
                        LOOK_NANOS, may - Indexing.Maintenance.STEP_NANOS + one(recording.stepNanos(), random));
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
