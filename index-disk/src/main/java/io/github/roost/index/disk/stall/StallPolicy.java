package io.github.roost.index.disk.stall;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.spi.Indexing;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * How workers fill their stalls with maintenance, such as the updates of tables on disk. A stall is the time
 * in which a worker has only searches that wait for bytes. Under every policy, maintenance also gets its share of busy workers' time, and workers without searches run it at once.
 *
 * <p>Immutable and thread-safe. A policy is of an orchestrator, so it concerns all tables on it.
 *
 * @param fills whether stalls are filled; if not, {@code isBudgeted} has no effect
 * @param isBudgeted whether the length of stalls is estimated, and a stall filled in one step for as long as the expected overrun allows
 *     (after the paper on leveraging I/O stalls, arXiv 2605.19335); if not, stalls are filled in steps of
 *     {@value Indexing.Maintenance#STEP_NANOS} ns, and the worker polls for the bytes between two steps
 * @param maxOverrun the maximum expected delay of a search's resumption, averaged over all stalls, as a share of the time from one stall
 *     to the next; used if {@code isBudgeted}
 * @param latencyTarget how much longer searches may take than with empty stalls, as a share; NaN for no target: every stall may be filled
 */
public record StallPolicy(boolean fills, boolean isBudgeted, double maxOverrun, double latencyTarget) {
    private static final double DEFAULT_OVERRUN = .05;

    /** Stalls are filled in short steps while there is maintenance: the default. */
    public static final StallPolicy POLLED = new StallPolicy(true, false, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are filled by estimates of their length, with an expected overrun of at most 5 % of the time from one stall to the next. */
    public static final StallPolicy BUDGETED = new StallPolicy(true, true, DEFAULT_OVERRUN, Double.NaN);

    /** Stalls are left empty: maintenance gets idle workers, and its share of busy ones. */
    public static final StallPolicy UNFILLED = new StallPolicy(false, false, DEFAULT_OVERRUN, Double.NaN);

    /** Checks the shares. */
    public StallPolicy {
        requireShare("overrun", maxOverrun);
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
     * Returns this policy with a latency target: one stall in sixteen is left empty, as the reference, and the share of the other stalls
     * that is filled is adjusted until searches take longer by the target.
     *
     * @param target above 0, at most 1: .05 for searches that take 5 % longer; if {@code isBudgeted} it also bounds the overrun
     * @return the policy
     */
    public StallPolicy withLatencyTarget(double target) {
        return new StallPolicy(fills, isBudgeted, isBudgeted ? target : maxOverrun, target);
    }

    /**
     * Sets this policy for all workers of an orchestrator, in place of the policy or rule before. Each worker applies it from its next stall on.
     * Measurements begin anew, unless an equal policy was in force that measures.
     *
     * @param orchestrator the orchestrator of the tables
     * @return the rules of its workers, which keep the statistics until another policy is set
     */
    public Rules applyTo(Orchestrator orchestrator) {
        Indexing indexing = orchestrator.indexing();
        if (indexing.stallRule() instanceof Rules present && present.policy.equals(this)) {
            return present;
        }
        Rules rules = rules(orchestrator.workers());
        // The default of orchestrators is to fill without measuring, and it reads no clock for that.
        indexing.stallRule(isPlain() ? null : rules);
        return rules;
    }

    /**
     * Returns the rules of workers whose stalls a caller drives itself, in virtual time for instance.
     *
     * @param workers number of workers
     * @return rules that no orchestrator uses
     */
    public Rules rules(int workers) {
        return new Rules(this, workers);
    }

    /** {@return whether stalls are filled without measuring them} */
    public boolean isPlain() {
        return fills && !isBudgeted && !hasTarget();
    }

    /** {@return whether there is a latency target} */
    public boolean hasTarget() {
        return !Double.isNaN(latencyTarget);
    }

    /** The stall rules of workers under one policy, with their statistics. Thread-safe. */
    public static final class Rules implements Indexing.StallRule.Factory {
        private final StallPolicy policy;
        /** By worker; null before its first stall. */
        private final AtomicReferenceArray<StallFilling> fillings;

        private Rules(StallPolicy policy, int workers) {
            this.policy = policy;
            this.fillings = new AtomicReferenceArray<>(workers);
        }

        @Override
        public Indexing.StallRule open(int worker) {
            StallFilling filling = new StallFilling(policy);
            fillings.set(worker, filling);
            return filling;
        }

        /** {@return statistics of the stalls of all workers; {@link Stats#NONE} if the policy measures none} */
        public Stats stats() {
            return Stats.of(IntStream.range(0, fillings.length())
                    .mapToObj(fillings::get)
                    .filter(Objects::nonNull)
                    .map(StallFilling::stats)
                    .toList());
        }
    }

    /**
     * Statistics of the stalls of one or several workers since their policy was set. All zero, but a share of 1, if the policy measures none.
     *
     * @param stalls number of stalls
     * @param empty number of stalls that were left empty as a reference
     * @param stalledNanos their total length, including overrun
     * @param filledNanos total time of maintenance in them
     * @param overrunNanos estimated total time that maintenance ran after the bytes had arrived
     * @param share the present share of stalls that may be filled, as the mean of the workers
     * @param slowdown how much longer searches take than with empty stalls, by overrun and by slower computation after it, as a share of the
     *     time from one stall to the next; the mean of the workers
     */
    public record Stats(
            long stalls,
            long empty,
            long stalledNanos,
            long filledNanos,
            long overrunNanos,
            double share,
            double slowdown) {
        /** The statistics before the first stall. */
        public static final Stats NONE = new Stats(0, 0, 0, 0, 0, 1, 0);

        /** Sums, and means of shares and slowdowns over the workers that had stalls. */
        private static Stats of(List<Stats> workers) {
            Stats sum = NONE;
            int some = 0;
            double share = 0;
            double slowdown = 0;
            for (Stats one : workers) {
                if (one.stalls > 0) {
                    some++;
                    share += one.share;
                    slowdown += one.slowdown;
                    sum = new Stats(
                            sum.stalls + one.stalls,
                            sum.empty + one.empty,
                            sum.stalledNanos + one.stalledNanos,
                            sum.filledNanos + one.filledNanos,
                            sum.overrunNanos + one.overrunNanos,
                            share / some,
                            slowdown / some);
                }
            }
            return sum;
        }
    }
}
