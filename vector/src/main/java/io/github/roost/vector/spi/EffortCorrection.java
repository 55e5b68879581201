package io.github.roost.vector.spi;

/**
 * The factor by which the effort for a target recall is corrected, because searches reach another recall than the sample that the effort was
 * measured with; queries unlike the rows do. It is changed only when the recall measured with the present factor differs from the target with
 * confidence, and lowered only when at most half of the misses that the target allows are made: one step changes the misses by less than that, so
 * it does not swing. Thread-safe.
 */
final class EffortCorrection {
    /** Measured searches between two decisions: the fewer, the more often chance decides. */
    static final int SEARCHES = 25;

    static final double SMALLEST = .5;
    static final double LARGEST = 16;
    private static final double STEP_DOWN = 1.25;
    private static final double LEAST_STEP_UP = 1.1;
    private static final double LARGEST_STEP_UP = 2;
    /** The smallest share of misses that a target is taken to allow. */
    private static final double LEAST_MISSES = .001;

    private final double target;
    private final RecallWindow window = new RecallWindow();
    private int undecided;
    /** Written under the lock. */
    private volatile double factor = 1;

    EffortCorrection(double target) {
        this.target = target;
    }

    double factor() {
        return factor;
    }

    /**
     * Adds a measured search.
     *
     * @param of the factor of its effort; if the factor has changed since, the search is ignored
     * @param recall its recall, from 0 to 1
     */
    synchronized void add(double of, double recall) {
        if (of != factor) {
            return;
        }
        window.add(recall, 1);
        undecided++;
        if (undecided == SEARCHES) {
            undecided = 0;
            double next = next(factor, target, window.mean(), window.low(), window.high());
            if (next != factor) {
                factor = next;
                window.clear();
            }
        }
    }

    /** The next factor, given the mean recall with the present one and its confidence interval. */
    private static double next(double factor, double target, double mean, double low, double high) {
        if (high < target) {
            // The misses fall about with the effort; the root leaves part of the way to the next step.
            double misses = (1 - mean) / Math.max(LEAST_MISSES, 1 - target);
            return Math.min(LARGEST, factor * Math.clamp(Math.sqrt(misses), LEAST_STEP_UP, LARGEST_STEP_UP));
        }
        return low > (1 + target) / 2 ? Math.max(SMALLEST, factor / STEP_DOWN) : factor;
    }
}
