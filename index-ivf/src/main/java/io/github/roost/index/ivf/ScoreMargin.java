package io.github.roost.index.ivf;

import io.github.roost.vector.Metric;

/**
 * Bounds on a row's distance from one query, given the score of its codes: which rows are certainly farther than another.
 *
 * <p>Let x = y + e, where y is a row decoded from its codes; w what a query's weights stand for (its difference from the center of the codes; under
 * inner product the query) and d their rounding error. A score differs from the distance to y by at most |d| |y - center|
 * (Cauchy-Schwarz; twice that for squared distances). The distance to x differs from the distance to y by at most |e| (triangle inequality; |q| |e|
 * for products). Added to these is the float rounding of scores and of the distances that a kernel computes. All of these differ between
 * lists. So that the scores of several lists have an order, {@link #scoreError} is subtracted from scores: none is above the distance to
 * its y.
 *
 * <p>Under cosine, scores are squared distances of unit vectors, twice the distance. The error of their lengths is part of the rounding.
 *
 * @param squared whether scores are of squared distances, so that the triangle inequality holds for their roots
 * @param perDistance score per distance: 2 under cosine, else 1
 * @param scoreError half of how far the lowered scores may be below the distances to decoded rows
 * @param distanceError bound on the difference of the distances (roots, if squared) to the row and to the decoded row
 * @param rounding error bound of the distance that a kernel computes, as a score
 */
record ScoreMargin(boolean squared, int perDistance, double scoreError, double distanceError, double rounding) {
    /** A row with a score up to this is always reranked, and does not count among the rows to keep. */
    static final float CERTAIN = -0x1p127f;
    /** Four half ulps of a float: several sums are rounded, of scores and of distances. */
    private static final double ROUNDING = 0x1p-22;
    /** More than the relative error of sums of squares in float. */
    private static final double WIDER = 1 + 0x1p-12;
    /** Max distance; beyond it the score of a certain row might look like an ordinary one. */
    private static final double MAX_DISTANCE = 0x1p126;

    /**
     * The margin for a query's weights and rows that lose at most {@code maxLoss}.
     *
     * @param squaredLength |w|², in float
     * @param squaredError |d|², in float
     * @param centerLength the norm of the center, for products; 0 for distances
     */
    static ScoreMargin of(
            Metric metric,
            int dimension,
            float squaredLength,
            float squaredError,
            ScalarCodec.Loss maxLoss,
            double centerLength) {
        boolean squared = metric != Metric.INNER_PRODUCT;
        int perDistance = metric == Metric.COSINE ? 2 : 1;
        double underflow = (dimension + 16) * (double) Float.MIN_VALUE;
        double length = Math.sqrt(WIDER * squaredLength + underflow);
        double error = Math.sqrt(WIDER * squaredError + underflow);
        double reach = centerLength + maxLoss.length() + maxLoss.error();
        double magnitude = squared ? (length + reach) * (length + reach) : length * reach;
        if (metric == Metric.COSINE) {
            // The product of two unit vectors is rounded too, and so are their lengths.
            magnitude += 4;
        }
        if (!(magnitude < MAX_DISTANCE)) {
            // Rows whose distances overflow are ordered by ids alone.
            return new ScoreMargin(squared, perDistance, 0, 0, Double.POSITIVE_INFINITY);
        }
        double rounding = ROUNDING * (dimension / 16.0 + 16) * magnitude + underflow;
        double products = error * maxLoss.length();
        return new ScoreMargin(
                squared,
                perDistance,
                (squared ? 2 * products : products) + rounding,
                squared ? maxLoss.error() : length * maxLoss.error(),
                rounding);
    }

    /** A margin for the rows of this and of another. */
    ScoreMargin with(ScoreMargin other) {
        return new ScoreMargin(
                squared,
                perDistance,
                Math.max(scoreError, other.scoreError),
                Math.max(distanceError, other.distanceError),
                Math.max(rounding, other.rounding));
    }

    /** Whether scores give any bound. */
    boolean tells() {
        return rounding < Double.POSITIVE_INFINITY;
    }

    /** The max distance of a row of this lowered score. */
    float farthest(float score) {
        return tells()
                ? Math.nextUp((float) ((raised((double) score + 2 * scoreError) + rounding) / perDistance))
                : Float.POSITIVE_INFINITY;
    }

    /** The max lowered score of a row that may be within a distance. */
    float within(float distance) {
        return tells()
                ? Math.nextUp((float) raised((double) perDistance * distance + rounding))
                : Float.POSITIVE_INFINITY;
    }

    private double raised(double distance) {
        if (!squared) {
            return distance + distanceError;
        }
        double root = Math.sqrt(Math.max(0, distance)) + distanceError;
        return root * root;
    }
}
