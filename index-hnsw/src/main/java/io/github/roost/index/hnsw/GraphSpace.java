package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.index.hnsw.walk.QueryValues;

/**
 * A table's rows and queries as its graph sees them, and the way back to the caller's distances.
 *
 * <p>jvector ranks by 1 / (1 + squared distance) in float: under about 10<sup>-7</sup> all distances score the same, and
 * squares of very small or large values leave float's range. So rows out of the range in which scores differ are
 * multiplied by a power of two, which loses nothing, and distances are divided by it again. Under cosine rows and queries
 * are brought to length 1: half the squared distance of such vectors is one minus their cosine.
 *
 * @param metric how the caller measures distances
 * @param exponent every row has been multiplied by two to this power; 0 for cosine
 * @param largest exponent of the largest value of the rows, after scaling
 */
record GraphSpace(Metric metric, int exponent, int largest) {
    /**
     * Binary exponent that the largest value of a table is brought to unless it is from 0 to this already: room below
     * for near neighbours, above for far queries.
     */
    private static final int SCALED = 30;
    /** What the largest value of the first of rows to come is brought to: they may be smaller, or larger, by far. */
    private static final int FIRST = 10;
    /**
     * Exponents between which the largest value of a row that is added later must be: squares stay in float's range, and
     * what is larger would make a difference to the distance of a query that is cut off at {@link #MAX_IN_QUERY}.
     */
    private static final int MIN_FITTING = -30;

    private static final int MAX_FITTING = SCALED;
    /** Largest value of a scaled query: at 4,096 dimensions its square is still a float. */
    private static final float MAX_IN_QUERY = 0x1p56f;

    /**
     * How a query was scaled.
     *
     * @param exponent the power of two its values were multiplied by
     * @param far whether they are so large that no row makes a difference to the float distance
     * @param squaredNorm of the values before, where that is the distance
     */
    record QueryScale(int exponent, boolean far, float squaredNorm) {}

    /**
     * The space for a table's rows.
     *
     * @param most the largest absolute value of them
     */
    static GraphSpace of(float most, Metric metric) {
        if (metric == Metric.COSINE) {
            return new GraphSpace(metric, 0, 0);
        }
        if (most == 0) {
            return new GraphSpace(metric, 0, 0);
        }
        int found = exponentOf(most);
        int exponent = found >= 0 && found <= SCALED ? 0 : SCALED - found;
        return new GraphSpace(metric, exponent, found + exponent);
    }

    /** For rows that are added one after the other and have no graph, of which only the first is there. */
    static GraphSpace around(float[] first, Metric metric) {
        float most = largestOf(first);
        return metric == Metric.COSINE || most == 0
                ? new GraphSpace(metric, 0, 0)
                : new GraphSpace(metric, FIRST - exponentOf(most), FIRST);
    }

    /** Whether a row that is not of those the space was made for can be told apart from them in it. */
    boolean fits(float[] values) {
        float most = largestOf(values);
        int found = exponentOf(most) + exponent;
        return metric == Metric.COSINE || most == 0 || (found >= MIN_FITTING && found <= MAX_FITTING);
    }

    /** The caller's values of a row; under cosine those of length 1. */
    float[] original(float[] row) {
        return metric == Metric.COSINE ? row : scale(row, -exponent);
    }

    /** A row's values; the same array where nothing changes. */
    float[] row(float[] values) {
        return metric == Metric.COSINE ? ofLengthOne(values) : scale(values, exponent);
    }

    /** Copies a query's values to where a walk reads them. */
    QueryScale write(float[] values, QueryValues into) {
        return switch (metric) {
            case SQUARED_L2 -> writeForL2(values, into);
            // The order by inner product does not depend on the query's length: as long as the rows is best.
            case INNER_PRODUCT -> writeScaled(values, largest - exponentOf(largestOf(values)), into);
            case COSINE -> writeOfLengthOne(values, into);
        };
    }

    private QueryScale writeForL2(float[] values, QueryValues into) {
        boolean far = false;
        for (int i = 0; i < values.length; i++) {
            float scaled = Math.scalb(values[i], exponent);
            float inside = Math.clamp(scaled, -MAX_IN_QUERY, MAX_IN_QUERY);
            far |= inside != scaled;
            into.setQuery(i, inside);
        }
        return new QueryScale(exponent, far, far ? (float) squaredNorm(values) : 0);
    }

    private static QueryScale writeScaled(float[] values, int exponent, QueryValues into) {
        for (int i = 0; i < values.length; i++) {
            into.setQuery(i, Math.scalb(values[i], exponent));
        }
        return new QueryScale(exponent, false, 0);
    }

    private static QueryScale writeOfLengthOne(float[] values, QueryValues into) {
        double length = Math.sqrt(squaredNorm(values));
        for (int i = 0; i < values.length; i++) {
            into.setQuery(i, (float) (values[i] / length));
        }
        return new QueryScale(0, false, 0);
    }

    /** A distance in the caller's scale, from that of the scaled vectors. */
    float toCaller(QueryScale query, float distance) {
        if (metric == Metric.COSINE) {
            return distance / 2;
        }
        return query.far() ? query.squaredNorm() : Math.scalb(distance, -exponent - query.exponent());
    }

    static float largestOf(float[] values) {
        float most = 0;
        for (float value : values) {
            most = Math.max(most, Math.abs(value));
        }
        return most;
    }

    /** Binary exponent of a value; that of the smallest normal float for what is less. */
    private static int exponentOf(float value) {
        return Math.getExponent(Math.max(value, Float.MIN_NORMAL));
    }

    private static float[] scale(float[] values, int exponent) {
        if (exponent == 0) {
            return values;
        }
        float[] scaled = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            scaled[i] = Math.scalb(values[i], exponent);
        }
        return scaled;
    }

    private static float[] ofLengthOne(float[] values) {
        double length = Math.sqrt(squaredNorm(values));
        float[] scaled = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            scaled[i] = (float) (values[i] / length);
        }
        return scaled;
    }

    /** In double, whose range holds the square of every float. */
    static double squaredNorm(float[] values) {
        double sum = 0;
        for (float value : values) {
            sum += (double) value * value;
        }
        return sum;
    }
}
