package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.VectorUtil;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * A table's rows and queries as its graph sees them, and the way back to the caller's distances. Immutable; thread-safe.
 *
 * <p>jvector ranks by 1 / (1 + squared distance) in float: under about 10<sup>-7</sup> all distances score the same, and
 * cosines of very small or large vectors leave float's range. So rows out of the range in which scores differ are
 * multiplied by a power of two, which loses nothing, and distances are divided by it again.
 */
final class GraphSpace {
    /**
     * Binary exponent that the largest value of a table is brought to unless it is from 0 to this already: room below
     * for near neighbours, above for far queries.
     */
    private static final int SCALED = 30;
    /** Largest value of a scaled query: at 4,096 dimensions its square is still a float. */
    private static final float MOST_IN_QUERY = 0x1p56f;
    /** Exponents of the largest value of a vector whose cosine stays in range, either side of 0. */
    private static final int MOST_COSINE = 25;

    private final Metric metric;
    /** Every row has been multiplied by two to this power; 0 for cosine, which does not depend on it. */
    private final int exponent;
    /** Exponent of the largest value of the rows, after scaling. */
    private final int largest;

    private final ListRandomAccessVectorValues rows;

    private GraphSpace(Metric metric, int exponent, int largest, ListRandomAccessVectorValues rows) {
        this.metric = metric;
        this.exponent = exponent;
        this.largest = largest;
        this.rows = rows;
    }

    /**
     * A query as the graph sees it.
     *
     * @param vector the scaled values
     * @param exponent the power of two they were multiplied by
     * @param far whether they are so large that no row makes a difference to the float distance
     * @param squaredNorm of the values before
     */
    record Query(VectorFloat<?> vector, int exponent, boolean far, double squaredNorm) {}

    static GraphSpace of(float[][] rows, Metric metric) {
        int dimension = rows[0].length;
        if (metric == Metric.COSINE) {
            return new GraphSpace(metric, 0, 0, values(Arrays.stream(rows).map(GraphSpace::forCosine), dimension));
        }
        int found = Arrays.stream(rows).mapToInt(GraphSpace::exponent).max().orElse(0);
        int exponent = found >= 0 && found <= SCALED ? 0 : SCALED - found;
        float[][] scaled = Arrays.stream(rows).map(row -> scale(row, exponent)).toArray(float[][]::new);
        return new GraphSpace(
                metric,
                exponent,
                found + exponent,
                metric == Metric.INNER_PRODUCT ? ofOneNorm(scaled) : values(Arrays.stream(scaled), dimension));
    }

    /**
     * Largest inner product becomes smallest L2 distance by one more dimension that brings all rows to one norm and is
     * zero in queries (Bachrach et al., RecSys 2014): inner product itself is no distance, and graphs built on it lose
     * most of their neighbours.
     */
    private static ListRandomAccessVectorValues ofOneNorm(float[][] rows) {
        int dimension = rows[0].length;
        double longest =
                Arrays.stream(rows).mapToDouble(GraphSpace::squaredNorm).max().orElse(0);
        return values(
                Arrays.stream(rows).map(row -> {
                    float[] longer = Arrays.copyOf(row, dimension + 1);
                    longer[dimension] = (float) Math.sqrt(longest - squaredNorm(row));
                    return longer;
                }),
                dimension + 1);
    }

    private static ListRandomAccessVectorValues values(Stream<float[]> rows, int dimension) {
        return new ListRandomAccessVectorValues(
                rows.<VectorFloat<?>>map(GraphSpace::vector).toList(), dimension);
    }

    private static VectorFloat<?> vector(float[] values) {
        return VectorizationProvider.getInstance().getVectorTypeSupport().createFloatVector(values);
    }

    private static float[] forCosine(float[] values) {
        int found = exponent(values);
        return Math.abs(found) <= MOST_COSINE ? values : scale(values, -found);
    }

    /** Binary exponent of the largest absolute value; that of the smallest normal float for a zero vector. */
    private static int exponent(float[] values) {
        float most = Float.MIN_NORMAL;
        for (float value : values) {
            most = Math.max(most, Math.abs(value));
        }
        return Math.getExponent(most);
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

    private static double squaredNorm(float[] row) {
        double sum = 0;
        for (float value : row) {
            sum += (double) value * value;
        }
        return sum;
    }

    /** One row a node; of one dimension more than the caller's for inner product. */
    ListRandomAccessVectorValues rows() {
        return rows;
    }

    VectorSimilarityFunction similarity() {
        return metric == Metric.COSINE ? VectorSimilarityFunction.COSINE : VectorSimilarityFunction.EUCLIDEAN;
    }

    /** The query's values are copied. */
    Query query(float[] values) {
        int queryExponent = switch (metric) {
            case SQUARED_L2 -> exponent;
            // The order by inner product does not depend on the query's length: as long as the rows is best.
            case INNER_PRODUCT -> largest - exponent(values);
            case COSINE -> 0;
        };
        float[] scaled = metric == Metric.COSINE ? forCosine(values) : scale(values, queryExponent);
        float[] padded = Arrays.copyOf(scaled, rows.dimension());
        boolean far = metric == Metric.SQUARED_L2 && clamp(padded);
        return new Query(vector(padded), queryExponent, far, squaredNorm(values));
    }

    /** Brings values into the range in which distances are finite; whether any was outside. */
    private static boolean clamp(float[] values) {
        boolean clamped = false;
        for (int i = 0; i < values.length; i++) {
            float inside = Math.clamp(values[i], -MOST_IN_QUERY, MOST_IN_QUERY);
            clamped |= inside != values[i];
            values[i] = inside;
        }
        return clamped;
    }

    /** How far a node is from a query, in the graph's scale: to compare, and for {@link #toCaller}. */
    float distance(Query query, int node) {
        VectorFloat<?> row = rows.getVector(node);
        return switch (metric) {
            case SQUARED_L2 -> VectorUtil.squareL2Distance(query.vector(), row);
            case INNER_PRODUCT -> -VectorUtil.dotProduct(query.vector(), row);
            case COSINE -> 1 - VectorUtil.cosine(query.vector(), row);
        };
    }

    /** The same neighbours with distances in the caller's scale. */
    Neighbors toCaller(Query query, Neighbors found) {
        if (exponent + query.exponent() == 0 && !query.far()) {
            return found;
        }
        float[] distances = new float[found.size()];
        for (int i = 0; i < distances.length; i++) {
            distances[i] = query.far()
                    ? (float) query.squaredNorm()
                    : Math.scalb(found.distances()[i], -exponent - query.exponent());
        }
        return new Neighbors(found.ids(), distances);
    }
}
