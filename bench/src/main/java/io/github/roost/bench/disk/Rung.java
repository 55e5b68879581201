package io.github.roost.bench.disk;

import io.github.roost.index.disk.stall.StallPolicy;
import io.github.roost.io.BlockIo.Backend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A way to run updates concurrently with searches.
 *
 * @param name short
 * @param reads how searches read
 * @param updates whether there are any updates
 * @param thread where updates run, as the property {@value #THREAD_PROPERTY} names it
 * @param sleeps whether workers sleep as soon as they have nothing to run, so that the operating system can give their core to another thread
 * @param slice how long updates run at a time; zero to use the policy's limit
 * @param policy for stalls
 * @param prefetch whether searches prefetch their distance table into the cache after updates
 */
public record Rung(
        String name,
        Backend reads,
        boolean updates,
        String thread,
        boolean sleeps,
        Duration slice,
        StallPolicy policy,
        boolean prefetch) {
    /** Read by a table when it is opened; for this comparison only, hence not in its API. */
    static final String THREAD_PROPERTY = "roost.disk.updateThread";

    private static final String WORKERS = "workers";
    private static final String OWN_THREAD = "own";
    private static final String IDLE_THREAD = "own_idle";

    /** Searches without updates: the baseline. */
    static final Rung NONE =
            new Rung("none", Backend.BEST, false, WORKERS, false, Duration.ZERO, StallPolicy.POLLED, false);

    /** Searches without updates that block their workers while they read, one page after another. */
    static final Rung BLOCKING =
            new Rung("none blocking", Backend.BLOCKING, false, WORKERS, true, Duration.ZERO, StallPolicy.POLLED, false);

    private static final Duration WHOLE = Duration.ofSeconds(1);

    private static Rung onThread(String name, Backend reads, String thread, boolean sleeps) {
        return new Rung(name, reads, true, thread, sleeps, Duration.ZERO, StallPolicy.POLLED, false);
    }

    private static Rung onWorkers(String name, Duration slice, StallPolicy policy, boolean prefetch) {
        return new Rung(name, Backend.BEST, true, WORKERS, false, slice, policy, prefetch);
    }

    /**
     * Ways to use the stalls of searching workers while other workers run only updates: the baseline, which leaves stalls empty, and each mechanism
     * in turn.
     *
     * @param targets latency targets, as shares
     */
    static List<Rung> besideUpdateWorkers(List<Double> targets) {
        List<Rung> rungs = new ArrayList<>(List.of(
                onWorkers("update workers", Duration.ZERO, StallPolicy.UNFILLED, false),
                onWorkers("split", Duration.ZERO, StallPolicy.POLLED, false),
                onWorkers("budget", Duration.ZERO, StallPolicy.BUDGETED, false)));
        for (double target : targets) {
            String percent = " " + Math.round(100 * target) + " %";
            rungs.add(onWorkers(
                    "split tuner" + percent, Duration.ZERO, StallPolicy.POLLED.withLatencyTarget(target), false));
            rungs.add(
                    onWorkers("tuner" + percent, Duration.ZERO, StallPolicy.BUDGETED.withLatencyTarget(target), false));
        }
        return rungs;
    }

    /** Searches without updates, and updates in slices of a millisecond and of 5 us. */
    static List<Rung> slices() {
        return List.of(
                NONE,
                onWorkers("coarse", Duration.ofMillis(1), StallPolicy.POLLED, false),
                onWorkers("split", Duration.ZERO, StallPolicy.POLLED, false));
    }

    /**
     * All ways: separate threads, updates that do not stop at the end of a stall, and each mechanism of the paper on leveraging I/O stalls in turn.
     *
     * @param targets latency targets, as shares
     */
    static List<Rung> ladder(List<Double> targets) {
        List<Rung> rungs = new ArrayList<>(List.of(
                NONE,
                onThread("thread", Backend.BEST, OWN_THREAD, false),
                onThread("idle thread", Backend.BEST, IDLE_THREAD, true),
                BLOCKING,
                onThread("idle blocking", Backend.BLOCKING, IDLE_THREAD, true),
                onWorkers("naive", WHOLE, StallPolicy.POLLED, false),
                onWorkers("split", Duration.ZERO, StallPolicy.POLLED, false),
                onWorkers("budget", Duration.ZERO, StallPolicy.BUDGETED, false)));
        for (double target : targets) {
            String percent = " " + Math.round(100 * target) + " %";
            StallPolicy tuned = StallPolicy.BUDGETED.withLatencyTarget(target);
            rungs.add(onWorkers("tuner" + percent, Duration.ZERO, tuned, false));
            rungs.add(onWorkers("prefetch" + percent, Duration.ZERO, tuned, true));
            rungs.add(onWorkers(
                    "split tuner" + percent, Duration.ZERO, StallPolicy.POLLED.withLatencyTarget(target), false));
        }
        return rungs;
    }
}
