package io.github.roost.lucene;

import io.github.roost.index.hnsw.graph.CodedRows;
import io.github.roost.vector.Metric;
import java.io.IOException;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Converts vectors and queries to the form in which graphs are searched. It preserves the order of the similarity function, not the
 * scores. Under cosine, vectors and queries are normalized to length 1. Stateless.
 */
final class SearchSpace {
    private SearchSpace() {}

    static Metric metric(VectorSimilarityFunction similarity) {
        return switch (similarity) {
            case EUCLIDEAN -> Metric.SQUARED_L2;
            case DOT_PRODUCT, MAXIMUM_INNER_PRODUCT -> Metric.INNER_PRODUCT;
            case COSINE -> Metric.COSINE;
        };
    }

    /**
     * Encodes all vectors of a field, in the order of their ordinals.
     *
     * @param quick whether some thousand vectors must take only milliseconds
     * @param betweenRows runs every few microseconds
     */
    static CodedRows encode(FieldInfo field, KnnVectorValues values, boolean quick, Runnable betweenRows)
            throws IOException {
        Metric metric = metric(field.getVectorSimilarityFunction());
        int dimension = values.dimension();
        int size = values.size();
        return switch (values) {
            case FloatVectorValues floats ->
                CodedRows.ofFloats(
                        field.name,
                        metric,
                        dimension,
                        size,
                        (row, into) -> copy(floats.vectorValue(row), metric, into),
                        quick,
                        betweenRows);
            case ByteVectorValues bytes -> {
                CodedRows.Source source = (row, into) -> copy(bytes.vectorValue(row), metric, into);
                yield metric == Metric.COSINE
                        ? CodedRows.ofFloats(field.name, metric, dimension, size, source, quick, betweenRows)
                        : CodedRows.ofBytes(metric, dimension, size, source, betweenRows);
            }
            default ->
                throw new IllegalArgumentException("vectors must be of floats or bytes, got " + values.getClass());
        };
    }

    static float[] query(VectorSimilarityFunction similarity, float[] target) {
        float[] query = target;
        if (similarity == VectorSimilarityFunction.COSINE) {
            query = target.clone();
            bringToLengthOne(query);
        }
        return query;
    }

    static float[] query(VectorSimilarityFunction similarity, byte[] target) {
        float[] query = new float[target.length];
        copy(target, metric(similarity), query);
        return query;
    }

    private static void copy(float[] vector, Metric metric, float[] into) {
        System.arraycopy(vector, 0, into, 0, into.length);
        if (metric == Metric.COSINE) {
            bringToLengthOne(into);
        }
    }

    private static void copy(byte[] vector, Metric metric, float[] into) {
        for (int i = 0; i < into.length; i++) {
            into[i] = vector[i];
        }
        if (metric == Metric.COSINE) {
            bringToLengthOne(into);
        }
    }

    /** A zero vector, which is equally near to all vectors, is unchanged. */
    private static void bringToLengthOne(float[] vector) {
        VectorUtil.l2normalize(vector, false);
    }
}
