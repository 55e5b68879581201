package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphSearcher;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.RowSizes;

/**
 * The scaling of a table's rows and queries into the space of its graph, and of distances back.
 *
 * <p>Squares of very small or large values leave the range of float. So rows outside a range are
 * multiplied by a power of two, which is lossless, and distances are scaled back. Under cosine, rows and queries
 * are normalized to length 1: half the squared distance of such vectors is one minus their cosine.
 *
 * <p>Under squared L2 the scale is that of most rows, so that a few of 10<sup>30</sup> times their size, such as the largest float for a
 * missing value, cost the others no precision. The distance to such a row may be infinite, and a query as large as it is compared with
 * every row. Distances to smaller rows are finite.
 *
 * @param metric the caller's metric
 * @param exponent every row has been multiplied by two to this power; 0 for cosine
 * @param largest binary exponent of the largest absolute value of the rows, after scaling
 */
public record GraphSpace(Metric metric, int exponent, int largest) {
    /**
     * Binary exponent to which the largest value of a table is scaled, unless it is from 0 to this already. It leaves range below
     * for near neighbors and above for far queries.
     */
    private static final int SCALED = 30;
    /** Binary exponent to which the largest value of the first added row is scaled: later rows may be far smaller or larger. */
    private static final int FIRST = 10;
    /**
     * The range of the binary exponent of a later row's largest value, with {@code MAX_FITTING}. Squares stay in the range of float;
     * a larger row would change the distance of a query clamped at {@link #MAX_IN_QUERY}.
     */
    private static final int MIN_FITTING = -30;

    private static final int MAX_FITTING = SCALED;
    /** Rows whose largest values differ by up to this binary exponent have one scale. */
    private static final int SPREAD = MAX_FITTING - MIN_FITTING;
    /** Max binary exponent of rows between which all distances are finite: the square of a sum of two, times 4,096. */
    private static final int MAX_FINITE = 55;
    /** Min binary exponent of usual rows whose differences have squares that are normal floats, though near neighbors differ little. */
    private static final int MIN_USUAL = -43;
    /** Max binary exponent of a row of very other size: a product of it and a query of others' size is in the range of float. */
    private static final int MAX_ODD = 80;
    /** Max value of a scaled query: the squared norm of 4,096 such components is still in the range of float. */
    private static final float MAX_IN_QUERY = 0x1p56f;

    /**
     * The scaling of a query.
     *
     * @param exponent the values were multiplied by two to this power
     * @param far whether the values are so large that no row changes the float distance
     * @param squaredNorm if {@code far}, the squared norm of the unscaled query, which is the distance to every row
     */
    record QueryScale(int exponent, boolean far, float squaredNorm) {}

    /** Room for the sizes of a table's rows. */
    static RowSizes sizes() {
        return new RowSizes(Float.MIN_EXPONENT);
    }

    /** The space for rows of these sizes. */
    static GraphSpace of(RowSizes sizes, Metric metric) {
        if (metric == Metric.COSINE || sizes.isEmpty()) {
            return new GraphSpace(metric, 0, 0);
        }
        int max = sizes.largest();
        int usual = metric == Metric.SQUARED_L2 ? usual(sizes) : max;
        int exponent = usual >= 0 && usual <= SCALED ? 0 : SCALED - usual;
        exponent = Math.min(exponent, fitting(usual, max));
        return new GraphSpace(metric, exponent, max + exponent);
    }

    /** The largest exponent at which distances to the largest rows are finite, if distances between usual ones are then exact. */
    private static int fitting(int usual, int max) {
        return usual + MAX_FINITE - max >= MIN_USUAL ? MAX_FINITE - max : MAX_ODD - max;
    }

    /** The largest size of those of one scale to which most rows belong. */
    private static int usual(RowSizes sizes) {
        int usual = sizes.largest();
        long most = 0;
        for (int top = usual; top >= Float.MIN_EXPONENT; top--) {
            long within = sizes.within(top - SPREAD, top);
            if (within > most && sizes.within(top, top) > 0) {
                most = within;
                usual = top;
            }
        }
        return usual;
    }

    /** Whether rows may be infinitely far from others. */
    private boolean hasOddRows() {
        return metric == Metric.SQUARED_L2 && largest > MAX_FITTING;
    }

    /** Whether a query is infinitely far from most rows, so that no graph leads to the few that are near. */
    boolean needsScan(float[] query) {
        return hasOddRows() && RowSizes.largestOf(scale(query, exponent)) > MAX_IN_QUERY;
    }

    /** The space for a part that rows are appended to, chosen by its first row. */
    public static GraphSpace around(float[] first, Metric metric) {
        float max = RowSizes.largestOf(first);
        return metric == Metric.COSINE || max == 0
                ? new GraphSpace(metric, 0, 0)
                : new GraphSpace(metric, FIRST - exponentOf(max), FIRST);
    }

    /** Whether a later row is in the range of magnitudes that this space can represent. */
    public boolean fits(float[] values) {
        float max = RowSizes.largestOf(values);
        int found = exponentOf(max) + exponent;
        return metric == Metric.COSINE || max == 0 || (found >= MIN_FITTING && found <= MAX_FITTING);
    }

    /** A row scaled back to the caller's values; under cosine the row of length 1. */
    float[] original(float[] row) {
        return metric == Metric.COSINE ? row : scale(row, -exponent);
    }

    /** A row scaled into this space; the same array if nothing changes. */
    public float[] row(float[] values) {
        return metric == Metric.COSINE ? ofLengthOne(values) : scale(values, exponent);
    }

    /** Writes a scaled query where a graph search reads it. */
    QueryScale write(float[] values, GraphSearcher.Query into) {
        return switch (metric) {
            case SQUARED_L2 -> writeForL2(values, into);
            // The order by inner product does not depend on the query's norm, so the query is scaled to the rows'
            // magnitude.
            case INNER_PRODUCT -> writeScaled(values, largest - exponentOf(RowSizes.largestOf(values)), into);
            case COSINE -> writeOfLengthOne(values, into);
        };
    }

    private QueryScale writeForL2(float[] values, GraphSearcher.Query into) {
        float[] scaled = scale(values, exponent);
        boolean odd = hasOddRows();
        float max = odd ? Float.MAX_VALUE : MAX_IN_QUERY;
        boolean far = RowSizes.largestOf(scaled) > max;
        into.setQuery(far ? clamped(scaled, max) : scaled);
        return far && !odd
                ? new QueryScale(exponent, true, (float) squaredNorm(values))
                : new QueryScale(exponent, false, 0);
    }

    private static float[] clamped(float[] values, float max) {
        float[] inside = new float[values.length];
        for (int i = 0; i < inside.length; i++) {
            inside[i] = Math.clamp(values[i], -max, max);
        }
        return inside;
    }

    private static QueryScale writeScaled(float[] values, int exponent, GraphSearcher.Query into) {
        into.setQuery(scale(values, exponent));
        return new QueryScale(exponent, false, 0);
    }

    private static QueryScale writeOfLengthOne(float[] values, GraphSearcher.Query into) {
        into.setQuery(ofLengthOne(values));
        return new QueryScale(0, false, 0);
    }

    /** Converts a distance between scaled vectors to the caller's scale. */
    float toCaller(QueryScale query, float distance) {
        if (metric == Metric.COSINE) {
            return distance / 2;
        }
        if (query.far()) {
            return query.squaredNorm();
        }
        int back = -exponent - query.exponent();
        return back == 0 ? distance : Math.scalb(distance, back);
    }

    /** Binary exponent of a nonnegative value, at least the exponent of the smallest normal float. */
    private static int exponentOf(float value) {
        return Math.getExponent(Math.max(value, Float.MIN_NORMAL));
    }

    private static float[] scale(float[] values, int exponent) {
        if (exponent == 0) {
            return values;
        }
        float[] scaled = new float[values.length];
        if (Math.abs(exponent) < Float.MAX_EXPONENT) {
            // Multiplying by a float power of two rounds as Math.scalb does, and takes less time.
            float factor = Math.scalb(1f, exponent);
            for (int i = 0; i < values.length; i++) {
                scaled[i] = values[i] * factor;
            }
        } else {
            for (int i = 0; i < values.length; i++) {
                scaled[i] = Math.scalb(values[i], exponent);
            }
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

    /** Computed in double, whose range contains the square of every float. */
    static double squaredNorm(float[] values) {
        double sum = 0;
        for (float value : values) {
            sum += (double) value * value;
        }
        return sum;
    }
}
