package io.github.roost.index.ivf;

import io.github.roost.vector.Metric;
import io.github.roost.vector.math.QueryWeights;
import io.github.roost.vector.math.ScalarQuantizer;

/**
 * Bounds on a row's distance from one query, given the score of its codes: which rows are certainly farther than another.
 *
 * <p>Let x = y + e, where y is a row decoded from its codes; w a query's weights and d their rounding error; c the row's
 * codes. Score plus offset differs from the distance to y by at most |d| |c| (Cauchy-Schwarz; twice that for squared
 * distances). The distance to x differs from the distance to y by at most |e| (triangle inequality; |q| |e|
 * for products). Added to these is the float rounding of scores and of the distances that a kernel computes.
 *
 * @param squared whether distances are squared, so that the triangle inequality holds for their roots
 * @param offset distance to the decoded row, less the score
 * @param scoreError error bound of score plus offset
 * @param distanceError bound on the difference of the distances (roots, if squared) to the row and to the decoded row
 * @param rounding error bound of the distance that a kernel computes
 */
record ScoreMargin(boolean squared, double offset, double scoreError, double distanceError, double rounding) {
    /** A row with a score up to this is always reranked, and does not count among the rows to keep. */
    static final float CERTAIN = -0x1p127f;
    /** Four half ulps of a float: several sums are rounded, of scores and of distances. */
    private static final double ROUNDING = 0x1p-22;
    /** Max change of a certain row's score by products; beyond it the score might look like an ordinary one. */
    private static final double MAX_PRODUCTS = 0x1p126;

    /**
     * The margin for a query's weights and rows that lose at most {@code maxLoss}.
     *
     * @param offset the distance from the query to the zero points
     * @param zeroPoints length of the zero points, for products; 0 for distances
     */
    static ScoreMargin of(
            Metric metric, QueryWeights.Bytes weights, ScalarCodec.Loss maxLoss, double offset, double zeroPoints) {
        boolean squared = metric == Metric.SQUARED_L2;
        int components = weights.weights().length;
        double reach = weights.length() + maxLoss.length() + maxLoss.error() + zeroPoints;
        double magnitude = reach * reach;
        double maxProducts =
                Math.abs((double) weights.slope()) * ScalarQuantizer.MIDDLE * QueryWeights.MAX * components;
        // Rows whose distances overflow or underflow are ordered by ids alone.
        double rounding = magnitude < Float.MAX_VALUE && maxProducts < MAX_PRODUCTS
                ? ROUNDING * (components / 16.0 + 16) * magnitude + (components + 16) * (double) Float.MIN_VALUE
                : Double.POSITIVE_INFINITY;
        double products = weights.error() * maxLoss.codeLength();
        return new ScoreMargin(
                squared,
                offset,
                (squared ? 2 * products : products) + rounding,
                squared ? maxLoss.error() : weights.length() * maxLoss.error(),
                rounding);
    }

    /** Whether scores give any bound. */
    boolean tells() {
        return rounding < Double.POSITIVE_INFINITY;
    }

    /** The max score of a row that may be as near as a row of this score. */
    float beyond(float score) {
        return within(farthest(score));
    }

    /** The max distance of a row of this score. */
    private double farthest(float score) {
        double max = score + offset + scoreError;
        return raised(max) + rounding;
    }

    /** The max score of a row that may be within a distance. */
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
