package io.github.roost.index.disk.stall;

import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Indexing.Maintenance;
import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Decides how one worker fills its stalls under a {@link StallPolicy}: receives the begin, the end and the maintenance of each stall, and
 * returns for how long maintenance may run now. Clock readings are passed in, in nanoseconds from any origin. Not thread-safe, except
 * {@link #stats}.
 *
 * <p>The first {@value #EMPTY} of each {@value #BLOCK} stalls are left empty, in a row, so that most of them are free of the cache effects
 * of maintenance. Their lengths determine the budgets, and the compute time after them is the reference of a latency target. Of the
 * remaining stalls a share is filled, each as far as possible, since the cache effects cost the same however little maintenance runs. A
 * stall that has lasted a millisecond is filled in steps like any idle time.
 *
 * <p>If bytes arrive during a step, the worker sees them after it, and the time of their arrival is unknown. The overrun is then the value
 * expected from the lengths of empty stalls, or half of the step if these give no estimate.
 */
final class StallFilling implements Indexing.StallRule {
    static final int BLOCK = 512;
    static final int EMPTY = 32;
    private static final long LONG_STALL_NANOS = 1_000_000;
    /** A smaller budget is not used. */
    private static final long MIN_NANOS = 2_000;

    private static final int WIDTHS = 8;
    /** If the estimated probability that a stall ends in a step is at most this, the estimate is not used for its overrun. */
    private static final double MIN_KNOWN = .01;

    private static final int STALLS_PER_STATS = 64;

    private final StallPolicy policy;
    private final UtilizationTuner tuner;
    /** Lengths by the number of reads in flight at the begin of the stall, in powers of two. */
    private final StallLengths[] lengths = new StallLengths[WIDTHS];

    private StallLengths known;
    private boolean inStall;
    private boolean empty;
    /** Whether only the stalled searches, and maintenance in the stall, have run since the stall began. */
    private boolean counts;

    private long began;
    private long ended;
    private int reads;
    private long filledHere;
    /** The last step of maintenance, if no other step was requested after it: the bytes arrived in it. {@code lastStep} is 0 if there is none. */
    private long lastFrom;

    private long lastStep;
    /** The overrun of the stall that has ended. */
    private double overrun;

    private long allowed;
    private boolean fills;
    /** Stalls that may be filled but have not been, as a fraction; at most 2. */
    private double due;

    private double used;

    private long stalls;
    private long empties;
    private long stalledNanos;
    private long filledNanos;
    private double overrunNanos;
    private volatile StallPolicy.Stats stats = StallPolicy.Stats.NONE;

    /**
     * Creates the state of a worker without stalls.
     *
     * @param policy the policy
     */
    StallFilling(StallPolicy policy) {
        this.policy = policy;
        this.tuner = new UtilizationTuner(policy.hasTarget() ? policy.latencyTarget() : 1);
        for (int width = 0; width < WIDTHS; width++) {
            lengths[width] = new StallLengths();
        }
        this.known = lengths[0];
    }

    @Override
    public void begins(long now, int underWay) {
        if (policy.isPlain()) {
            return;
        }
        if (counts) {
            countCycle(now);
        }
        reads = underWay;
        filledHere = 0;
        lastStep = 0;
        overrun = 0;
        known = lengths[Math.min(WIDTHS - 1, Integer.SIZE - Integer.numberOfLeadingZeros(underWay))];
        empty = stalls % BLOCK < EMPTY;
        stalls++;
        empties += empty ? 1 : 0;
        inStall = true;
        counts = true;
        began = now;
        due = Math.min(2, due + share());
        fills = !empty && due >= 1;
        due -= fills ? 1 : 0;
        used = 0;
    }

    private void countCycle(long now) {
        tuner.add(empty, ended - began, overrun, now - ended);
        StallEvent event = new StallEvent();
        if (event.isEnabled()) {
            event.readsUnderWay = reads;
            event.length = ended - began;
            event.filled = filledHere;
            event.overrun = (long) overrun;
            event.computed = now - ended;
            event.isEmpty = empty;
            event.commit();
        }
    }

    @Override
    public boolean isEmpty() {
        return inStall && empty;
    }

    @Override
    public boolean isMeasured() {
        return inStall;
    }

    @Override
    public long mayRun(long now) {
        if (!inStall) {
            return Maintenance.STEP_NANOS;
        }
        // The caller has polled and found no bytes, so they did not arrive in the last step.
        lastStep = 0;
        long elapsed = now - began;
        if (elapsed > LONG_STALL_NANOS) {
            isOver(now);
            return Maintenance.STEP_NANOS;
        }
        if (empty || !fills || !policy.fills()) {
            return 0;
        }
        allowed = policy.isBudgeted() ? budget(elapsed) : Maintenance.STEP_NANOS;
        return allowed;
    }

    private long budget(long elapsed) {
        double cycle = tuner.emptyCycleNanos();
        if (!known.isKnown() || cycle == 0) {
            return Maintenance.STEP_NANOS;
        }
        double reached = known.goesOn(0, elapsed);
        if (reached < .01) {
            return 0;
        }
        long budget = known.budget(elapsed, Math.max(0, policy.maxOverrun() * cycle - used) / reached);
        return budget < MIN_NANOS ? 0 : budget;
    }

    @Override
    public void ran(long from, long to) {
        if (!inStall) {
            return;
        }
        filledNanos += to - from;
        filledHere += to - from;
        lastFrom = from;
        lastStep = to - from;
        if (policy.isBudgeted() && known.isKnown()) {
            used += known.goesOn(0, from - began) * known.expectedOverrun(from - began, to - from);
        }
        StepEvent event = new StepEvent();
        if (event.isEnabled()) {
            event.allowed = allowed;
            event.took = to - from;
            event.commit();
        }
    }

    @Override
    public void ends(long now) {
        if (!inStall) {
            return;
        }
        inStall = false;
        ended = now;
        stalledNanos += now - began;
        overrun = lastStep == 0 ? 0 : overrunOfLast();
        overrunNanos += overrun;
        if (empty) {
            known.add(now - began);
        }
        if (stalls % STALLS_PER_STATS == 0) {
            stats = new StallPolicy.Stats(
                    stalls, empties, stalledNanos, filledNanos, (long) overrunNanos, share(), tuner.slowdown());
        }
    }

    private double overrunOfLast() {
        if (known.isKnown()) {
            double ends = 1 - known.goesOn(lastFrom - began, lastStep);
            if (ends > MIN_KNOWN) {
                return Math.min((double) lastStep, known.expectedOverrun(lastFrom - began, lastStep) / ends);
            }
        }
        return lastStep / 2.0;
    }

    private double share() {
        return policy.hasTarget() ? tuner.share() : 1;
    }

    @Override
    public void isOver(long now) {
        counts = false;
        if (inStall) {
            inStall = false;
            stalledNanos += now - began;
        }
    }

    /** {@return statistics of the stalls, updated every 64 stalls} */
    StallPolicy.Stats stats() {
        return stats;
    }

    /** JFR events of a worker's stalls are disabled by default, since there are about ten thousand per second. */
    @Name("io.github.roost.Stall")
    @Label("Stall")
    @Category("Roost")
    @StackTrace(false)
    @Enabled(false)
    static final class StallEvent extends Event {
        @Label("Reads Under Way")
        int readsUnderWay;

        @Label("Length")
        @Timespan(Timespan.NANOSECONDS)
        long length;

        @Label("Filled")
        @Timespan(Timespan.NANOSECONDS)
        long filled;

        @Label("Overrun")
        @Timespan(Timespan.NANOSECONDS)
        long overrun;

        @Label("Until the Next Stall")
        @Timespan(Timespan.NANOSECONDS)
        long computed;

        @Label("Left Empty")
        boolean isEmpty;
    }

    @Name("io.github.roost.StallStep")
    @Label("Step of Maintenance in a Stall")
    @Category("Roost")
    @StackTrace(false)
    @Enabled(false)
    static final class StepEvent extends Event {
        @Label("Allowed")
        @Timespan(Timespan.NANOSECONDS)
        long allowed;

        @Label("Took")
        @Timespan(Timespan.NANOSECONDS)
        long took;
    }
}
