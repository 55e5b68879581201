package io.github.roost.index.disk.stall;

/**
 * Adjusts the share of stalls that are filled so that searches take longer by a target share. Not thread-safe.
 *
 * <p>The cost of a filled stall is its overrun, from the arrival of the bytes until maintenance yields, plus the slower computation of the
 * search after it. Only these are compared, not the whole time from one stall to the next: the length of a stall depends on the storage,
 * varies by far more than a target, and does not depend on the filling.
 *
 * <p>A block of empty stalls and the block of stalls after it are a pair, and give one difference. The confidence interval of the mean
 * difference comes from the variance between pairs, so drift over many pairs and correlation within a block do not make it too narrow. The
 * share changes only if the interval excludes the target, in proportion to the end of the interval that is nearer to the target, since the
 * slowdown is proportional to the share. After a change the count of pairs starts again.
 */
final class UtilizationTuner {
    /** Number of pairs needed for a decision. */
    static final int ENOUGH_PAIRS = 6;
    /** Maximum number of pairs; then their weight is halved, so that a new load is noticed. */
    static final int MAX_PAIRS = 64;
    /** Half width of the interval in standard errors: about 95 % confidence. */
    private static final double STANDARD_ERRORS = 2;
    /** Maximum factor by which the share changes at once. */
    private static final double MAX_CHANGE = 2;

    private static final double MIN_SHARE = .01;
    private static final double FIRST_SHARE = .5;
    /** Cycles are clipped to this multiple of the mean: a thread may have lost its core for milliseconds. */
    private static final double MAX_OF_MEAN = 8;
    /** Minimum number of cycles in a block. */
    private static final int MIN_OF_BLOCK = 8;

    /** Weight of a new cycle in the running means of empty cycles. */
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
     * Creates a tuner that begins with half of the stalls.
     *
     * @param target how much longer searches may take, as a share of the time from one stall to the next
     */
    UtilizationTuner(double target) {
        this.target = target;
    }

    /**
     * Adds a cycle: the time from one stall to the next of the same worker.
     *
     * @param isEmpty whether its stall was left empty as a reference
     * @param stallNanos the length of the stall
     * @param overrunNanos the part of the stall after the bytes arrived
     * @param computedNanos the time from the end of the stall to the next stall
     */
    void add(boolean isEmpty, long stallNanos, double overrunNanos, long computedNanos) {
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
        double min = mean - half;
        double max = mean + half;
        if (min > target) {
            change(Math.max(1 / MAX_CHANGE, target / min));
        } else if (max < target) {
            change(Math.min(MAX_CHANGE, target / Math.max(max, target / MAX_CHANGE)));
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

    /** {@return the share of stalls that may be filled, above 0, at most 1} */
    double share() {
        return share;
    }

    /** {@return how much longer searches take than with empty stalls, as a share, by the latest pairs; 0 before the first pair} */
    double slowdown() {
        return slowdown;
    }

    /** {@return the mean length of cycles whose stall was left empty, in nanoseconds; 0 before the first} */
    double emptyCycleNanos() {
        return emptyCycle;
    }
}
