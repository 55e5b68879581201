package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.vector.ScalarQuantizer;

/**
 * What the score of a row's codes says of its distance from one query: for which rows a distance is certain to be above
 * another's.
 *
 * <p>With x = y + e, where y is what a row's codes stand for, a query's weights w and what their rounding took from them, d,
 * a score and the offset are off the distance to y by at most |d| |c| (Cauchy and Schwarz; twice that where distances are
 * squared), c being the row's codes. Of the distance to y, that to x is off by at most |e| (the triangle inequality; |q| |e|
 * for products). To these comes what floats round, of scores and of the distances that a kernel computes.
 *
 * @param squared whether distances are squares, so that the root is what the triangle inequality is about
 * @param offset the distance to what codes stand for is a score and this
 * @param scoreError by how much that may be off
 * @param distanceError by how much the distance to the row, or its root, may differ from the one to what its codes stand for
 * @param rounding by how much the distance that a kernel computes may be off
 */
record ScoreMargin(boolean squared, double offset, double scoreError, double distanceError, double rounding) {
    /** A row with a score up to this is compared whatever others there are, and takes the place of none. */
    static final float CERTAIN = -0x1p127f;
    /** Four half ulps of a float: several sums are rounded, of scores and of distances. */
    private static final double ROUNDING = 0x1p-22;
    /** What scores may add to that of a certain row, which otherwise might seem to be one of codes. */
    private static final double MAX_PRODUCTS = 0x1p126;

    /**
     * Of a query's weights, and rows whose loss is at most so much.
     *
     * @param offset the distance from the query to the middles, less what scores say of it
     * @param middles the length of the middles, for products; 0 for distances
     */
    static ScoreMargin of(
            Metric metric, ScalarCodec.Weights weights, ScalarCodec.Loss most, double offset, double middles) {
        boolean squared = metric == Metric.SQUARED_L2;
        int components = weights.weights().length;
        double reach = weights.length() + most.length() + most.error() + middles;
        double magnitude = reach * reach;
        double mostProducts =
                Math.abs((double) weights.slope()) * ScalarQuantizer.MIDDLE * ScalarQuantizer.MAX_WEIGHT * components;
        // Distances that overflow are ordered by ids alone; those that underflow, too.
        double rounding = magnitude < Float.MAX_VALUE && mostProducts < MAX_PRODUCTS
                ? ROUNDING * (components / 16.0 + 16) * magnitude + (components + 16) * (double) Float.MIN_VALUE
                : Double.POSITIVE_INFINITY;
        double products = weights.error() * most.codeLength();
        return new ScoreMargin(
                squared,
                offset,
                (squared ? 2 * products : products) + rounding,
                squared ? most.error() : weights.length() * most.error(),
                rounding);
    }

    /** Whether scores say anything. */
    boolean tells() {
        return rounding < Double.POSITIVE_INFINITY;
    }

    /** The score up to which rows may be as near as one of this score. */
    float beyond(float score) {
        return within(farthest(score));
    }

    /** The largest distance of a row of this score. */
    private double farthest(float score) {
        double most = score + offset + scoreError;
        return raised(most) + rounding;
    }

    /** The score up to which rows may be within a distance. */
    float within(double distance) {
        if (!tells()) {
            return Float.POSITIVE_INFINITY;
        }
        double score = raised(distance + rounding) + scoreError - offset;
        return Math.nextUp((float) score);
    }

    private double raised(double distance) {
        if (!squared) {
            return distance + distanceError;
        }
        double root = Math.sqrt(Math.max(0, distance)) + distanceError;
        return root * root;
    }
}
