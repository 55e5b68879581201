package io.github.roost.core.stall;

/**
 * How workers fill their stalls with maintenance. A stall is the time in which a worker has searches that wait for bytes, and nothing
 * else to run. Whatever the policy, maintenance keeps its share of busy workers' time, and workers without searches run it as it comes.
 *
 * @param fills whether stalls are filled at all; where not, {@code isBudgeted} says nothing
 * @param isBudgeted whether the length of stalls is estimated, and a stall filled in one go for as long as the expected overrun allows
 *     (after the paper on leveraging I/O stalls, arXiv 2605.19335); if not, stalls are filled in steps of {@value #STEP_NANOS} ns, and
 *     the worker looks between two of them whether the bytes are there
 * @param mostOverrun how much later than without maintenance a search goes on at most, as a share of the time from one stall to the
 *     next, expected over all stalls; used where {@code isBudgeted}
 * @param latencyTarget how much longer searches may take than without maintenance in their stalls, as a share; NaN for no target:
 *     every stall may be filled
 */
public record StallPolicy(boolean fills, boolean isBudgeted, double mostOverrun, double latencyTarget) {
    /** How long a step of maintenance may take where nothing else is known. */
    public static final long STEP_NANOS = 5_000;

    private static final double DEFAULT_OVERRUN = .05;

    /** Stalls are filled in short steps, as far as there is maintenance: the default. */
    public static final StallPolicy POLLED = new StallPolicy(true, false, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are filled by estimates of their length, with an expected overrun of 5 % of the time from one stall to the next. */
    public static final StallPolicy BUDGETED = new StallPolicy(true, true, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are left empty: maintenance has idle workers, and its share of busy ones. */
    public static final StallPolicy UNFILLED = new StallPolicy(false, false, DEFAULT_OVERRUN, Double.NaN);

    /** Checks the shares. */
    public StallPolicy {
        requireShare("overrun", mostOverrun);
        if (!Double.isNaN(latencyTarget)) {
            requireShare("latency target", latencyTarget);
        }
    }

    private static void requireShare(String what, double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("the " + what + " must be above 0 and at most 1, got " + share);
        }
    }

    /**
     * This policy, held to a latency: one stall in sixteen is left empty, which shows what searches compute without maintenance, and
     * the share of the other stalls that is filled is such that searches take so much longer.
     *
     * @param target above 0, to 1: .05 for searches that take 5 % longer; with budgets it also bounds the overrun
     * @return the policy
     */
    public StallPolicy withLatencyTarget(double target) {
        return new StallPolicy(fills, isBudgeted, isBudgeted ? target : mostOverrun, target);
    }

    /** {@return whether stalls are filled without any measure of them} */
    public boolean isPlain() {
        return fills && !isBudgeted && !hasTarget();
    }

    /** {@return whether latency is held to a target} */
    public boolean hasTarget() {
        return !Double.isNaN(latencyTarget);
    }
}
