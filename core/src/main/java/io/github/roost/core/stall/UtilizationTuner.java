package io.github.roost.core.stall;

/**
 * Which share of stalls may be filled so that searches take just so much longer than without. Not thread-safe.
 *
 * <p>What a filled stall costs is the time from when the bytes were there until maintenance gave way, and what the search then computes
 * longer. These two are compared, not the whole time from one stall to the next: the length of a stall is the storage's, varies by far
 * more than a target is, and is the same whether the stall is filled.
 *
 * <p>Some stalls that were left empty and those that follow them are a pair of blocks, and give one difference. The mean of the
 * differences has a confidence interval, by how much they differ among themselves; so what drifts over many pairs, and what is alike
 * within a block, do not make it look surer than it is. The share changes only where the interval excludes the target, and then by what
 * the end of the interval that is nearer to the target says: the slowdown is in proportion to the share. After a change the pairs are
 * counted anew.
 */
public final class UtilizationTuner {
    /** Pairs without which nothing is said. */
    static final int ENOUGH_PAIRS = 6;
    /** Pairs that count at most; then half of them are forgotten, so that a new load is seen. */
    static final int MAX_PAIRS = 64;
    /** Half of an interval, in standard errors: nineteen of twenty hold what they are about. */
    private static final double STANDARD_ERRORS = 2;
    /** The share changes by this factor at most. */
    private static final double MAX_CHANGE = 2;

    private static final double MIN_SHARE = .01;
    private static final double FIRST_SHARE = .5;
    /** A cycle counts as so many mean ones at most: a thread that lost its core for milliseconds says nothing here. */
    private static final double MAX_OF_MEAN = 8;
    /** Cycles of which a block has to have this many. */
    private static final int MIN_OF_BLOCK = 8;

    /** Of the mean of what empty cycles are. */
    private static final double FORGETS = 1 / 1024.0;

    private final double target;
    private double share = FIRST_SHARE;

    private final Block empty = new Block();
    private final Block others = new Block();
    private boolean lastWasEmpty = true;

    private double emptyCycle;
    private double emptyComputed;
    private double weight;

    private int pairs;
    private double mean;
    private double squares;
    private double slowdown;

    private static final class Block {
        double sum;
        int count;

        void add(double value) {
            sum += value;
            count++;
        }

        double mean() {
            return sum / count;
        }

        void clear() {
            sum = 0;
            count = 0;
        }
    }

    /**
     * Begins with half of the stalls.
     *
     * @param target how much longer searches may take, as a share
     */
    public UtilizationTuner(double target) {
        this.target = target;
    }

    /**
     * Counts a cycle: the time from a stall to the next one of the same worker.
     *
     * @param isEmpty whether its stall was left empty to compare with
     * @param stallNanos length of the stall
     * @param overrunNanos the part of it after the bytes were there
     * @param computedNanos from the end of the stall to the next one
     */
    public void add(boolean isEmpty, long stallNanos, double overrunNanos, long computedNanos) {
        if (isEmpty && !lastWasEmpty) {
            endPair();
        }
        lastWasEmpty = isEmpty;
        double computed = Math.max(0, computedNanos);
        double cycle = Math.max(0, stallNanos) + computed;
        if (weight > 0) {
            computed = Math.min(computed, MAX_OF_MEAN * emptyComputed);
            cycle = Math.min(cycle, MAX_OF_MEAN * emptyCycle);
        }
        if (isEmpty) {
            weight = Math.max(FORGETS, weight == 0 ? 1 : weight / (1 + weight));
            emptyCycle += weight * (cycle - emptyCycle);
            emptyComputed += weight * (computed - emptyComputed);
            empty.add(computed);
        } else {
            others.add(computed + Math.min(overrunNanos, MAX_OF_MEAN * emptyCycle));
        }
    }

    private void endPair() {
        if (empty.count >= MIN_OF_BLOCK && others.count >= MIN_OF_BLOCK && emptyCycle > 0) {
            double difference = (others.mean() - empty.mean()) / emptyCycle;
            pairs++;
            double from = difference - mean;
            mean += from / pairs;
            squares += from * (difference - mean);
            slowdown = mean;
            if (pairs >= ENOUGH_PAIRS) {
                decide();
            }
        }
        empty.clear();
        others.clear();
    }

    private void decide() {
        double half = STANDARD_ERRORS * Math.sqrt(squares / (pairs - 1) / pairs);
        double least = mean - half;
        double most = mean + half;
        if (least > target) {
            change(Math.max(1 / MAX_CHANGE, target / least));
        } else if (most < target) {
            change(Math.min(MAX_CHANGE, target / Math.max(most, target / MAX_CHANGE)));
        }
        if (pairs >= MAX_PAIRS) {
            pairs /= 2;
            squares /= 2;
        }
    }

    private void change(double factor) {
        double next = Math.clamp(share * factor, MIN_SHARE, 1);
        if (next != share) {
            share = next;
            pairs = 0;
            mean = 0;
            squares = 0;
        }
    }

    /** {@return the share of the stalls that may be filled, from 0 to 1} */
    public double share() {
        return share;
    }

    /** {@return by how much searches take longer than with empty stalls, as a share, by the latest pairs; 0 while that is not known} */
    public double slowdown() {
        return slowdown;
    }

    /** {@return the mean cycle whose stall was left empty, in nanoseconds; 0 while there was none} */
    public double emptyCycleNanos() {
        return emptyCycle;
    }
}
