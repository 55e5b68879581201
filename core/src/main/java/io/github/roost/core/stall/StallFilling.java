package io.github.roost.core.stall;

/**
 * What one worker does with its stalls under a {@link StallPolicy}: told when a stall begins and ends and what ran in it, it says for how
 * long maintenance may run now. Clock readings are passed in, in nanoseconds of any origin. Not thread-safe but for {@link #stats}.
 *
 * <p>Of each {@value #BLOCK} stalls the first {@value #EMPTY} are left empty, in a row, so that what maintenance does to the caches is over
 * for most of them. Their lengths are what budgets are made of, and what is computed after them is what a latency target is held by. Of
 * the others a share is filled, each as far as it goes, since what maintenance does to the caches costs the same however little of it
 * there is. A stall that has lasted a millisecond is filled in steps like any idle time.
 *
 * <p>Bytes that arrive while a step runs are seen after it. When in the step they came is not known: what is expected of the lengths of
 * empty stalls counts as overrun, half of the step where these say nothing.
 */
public final class StallFilling {
    static final int BLOCK = 512;
    static final int EMPTY = 32;
    private static final long LONG_STALL_NANOS = 1_000_000;
    /** Work for less is not begun. */
    private static final long MIN_NANOS = 2_000;

    private static final int WIDTHS = 8;
    /** A step in which stalls end less often than so is longer than what is known of them. */
    private static final double MIN_KNOWN = .01;

    private static final int STALLS_PER_STATS = 64;

    private final StallPolicy policy;
    private final UtilizationTuner tuner;
    /** By the reads that are under way as the stall begins: their number in powers of two. */
    private final StallLengths[] lengths = new StallLengths[WIDTHS];

    private StallLengths known;
    private boolean inStall;
    private boolean empty;
    /** Whether what has run since the stall began is the searches' own, and maintenance in it. */
    private boolean counts;

    private long began;
    private long ended;
    private int reads;
    private long filledHere;
    /** The step of maintenance after which nobody has asked for another: the bytes arrived in it, or none has run. */
    private long lastFrom;

    private long lastStep;
    /** Of the stall that has ended. */
    private double overrun;

    private long allowed;
    private boolean fills;
    /** Stalls that may be filled, and were not. */
    private double due;

    private double used;

    private long stalls;
    private long empties;
    private long stalledNanos;
    private long filledNanos;
    private double overrunNanos;
    private volatile StallStats stats = StallStats.NONE;

    /**
     * Begins.
     *
     * @param policy to follow
     */
    public StallFilling(StallPolicy policy) {
        this.policy = policy;
        this.tuner = new UtilizationTuner(policy.hasTarget() ? policy.latencyTarget() : 1);
        for (int width = 0; width < WIDTHS; width++) {
            lengths[width] = new StallLengths();
        }
        this.known = lengths[0];
    }

    /** {@return what it follows} */
    public StallPolicy policy() {
        return policy;
    }

    /**
     * A stall begins: the worker's last search has parked.
     *
     * @param now clock
     * @param underWay reads that are under way, at least 0
     */
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
        StallEvents.StallEvent event = new StallEvents.StallEvent();
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

    /** {@return whether the stall that the worker is in is one that is left empty} */
    public boolean isEmpty() {
        return inStall && empty;
    }

    /** {@return whether the worker is in a stall that is measured, in which it must not leave its core to others} */
    public boolean isMeasured() {
        return inStall;
    }

    /**
     * For how long maintenance may run.
     *
     * @param now clock
     * @return nanoseconds, 0 for not now
     */
    public long mayRun(long now) {
        if (!inStall) {
            return StallPolicy.STEP_NANOS;
        }
        // Whoever asks has looked for the bytes in vain.
        lastStep = 0;
        long elapsed = now - began;
        if (elapsed > LONG_STALL_NANOS) {
            isOver(now);
            return StallPolicy.STEP_NANOS;
        }
        if (empty || !fills || !policy.fills()) {
            return 0;
        }
        allowed = policy.isBudgeted() ? budget(elapsed) : StallPolicy.STEP_NANOS;
        return allowed;
    }

    private long budget(long elapsed) {
        double cycle = tuner.emptyCycleNanos();
        if (!known.isKnown() || cycle == 0) {
            return StallPolicy.STEP_NANOS;
        }
        double reached = known.goesOn(0, elapsed);
        if (reached < .01) {
            return 0;
        }
        long budget = known.budget(elapsed, Math.max(0, policy.mostOverrun() * cycle - used) / reached);
        return budget < MIN_NANOS ? 0 : budget;
    }

    /**
     * Maintenance has run.
     *
     * @param from clock as it began
     * @param to clock as it ended
     */
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
        StallEvents.StepEvent event = new StallEvents.StepEvent();
        if (event.isEnabled()) {
            event.allowed = allowed;
            event.took = to - from;
            event.commit();
        }
    }

    /**
     * The stall ends: a search goes on.
     *
     * @param now clock
     */
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
            stats = new StallStats(
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

    /**
     * The worker runs something else than the searches that stalled, or nothing: what it takes until the next stall says nothing.
     *
     * @param now clock; of no meaning outside a stall
     */
    public void isOver(long now) {
        counts = false;
        if (inStall) {
            inStall = false;
            stalledNanos += now - began;
        }
    }

    /** {@return what the stalls were, up to some moments ago} */
    public StallStats stats() {
        return stats;
    }
}
