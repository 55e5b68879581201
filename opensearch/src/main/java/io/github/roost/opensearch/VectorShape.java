package io.github.roost.opensearch;

import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * The shape of a field's vectors. Vectors of documents and of queries are checked here.
 *
 * @param dimension components per vector
 * @param elements the type of a component
 * @param similarity the similarity function
 */
record VectorShape(int dimension, Elements elements, VectorSimilarityFunction similarity) {
    /** Tolerance of the squared length of a unit vector, for the rounding of its components. */
    private static final double UNIT_TOLERANCE = 1e-3;

    /** The type of a component. */
    enum Elements {
        FLOAT,
        BYTE
    }

    /**
     * Checks a vector.
     *
     * @param what the vector's name in the message
     * @throws IllegalArgumentException if the vector does not have this shape
     */
    void require(String what, float[] vector) {
        boolean cosine = similarity == VectorSimilarityFunction.COSINE;
        Vectors.require(what, vector, dimension, cosine ? Metric.COSINE : Metric.SQUARED_L2);
        if (elements == Elements.BYTE) {
            requireBytes(what, vector);
        } else {
            requireLength(what, vector);
        }
    }

    private static void requireBytes(String what, float[] vector) {
        for (int i = 0; i < vector.length; i++) {
            if (vector[i] != (byte) vector[i]) {
                throw new IllegalArgumentException(what + " must have whole numbers between -128 and 127, got "
                        + vector[i] + " in dimension " + i);
            }
        }
    }

    private void requireLength(String what, float[] vector) {
        float squared = 0;
        for (float component : vector) {
            squared += component * component;
        }
        if (similarity == VectorSimilarityFunction.COSINE
                && !(squared >= Float.MIN_NORMAL && squared <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    what + " must have a length whose square is a normal float, got " + squared + ": it has no cosine");
        }
        if (similarity == VectorSimilarityFunction.DOT_PRODUCT && Math.abs(squared - 1) > UNIT_TOLERANCE) {
            throw new IllegalArgumentException(
                    what + " must have a length of 1 for dot_product, got " + Math.sqrt(squared));
        }
    }

    /**
     * The score of vectors at a distance.
     *
     * @param distance under euclidean the squared distance, under cosine 1 - cosine, under the others the negative inner product
     * @throws IllegalArgumentException if no vectors of this shape can be at this distance
     */
    float score(float distance) {
        return switch (similarity) {
            case EUCLIDEAN -> 1 / (1 + required(distance, 0, Float.MAX_VALUE));
            case COSINE -> VectorUtil.normalizeToUnitInterval(1 - required(distance, 0, 2));
            case DOT_PRODUCT ->
                elements == Elements.FLOAT
                        ? VectorUtil.normalizeToUnitInterval(-required(distance, -1, 1))
                        : bytesScore(required(distance, -maxInnerProduct(), maxInnerProduct()));
            case MAXIMUM_INNER_PRODUCT -> VectorUtil.scaleMaxInnerProductScore(-distance);
        };
    }

    private float bytesScore(float distance) {
        return .5f - distance / (dimension * (float) (1 << 15));
    }

    /** Of two vectors of bytes. */
    private float maxInnerProduct() {
        return dimension * (float) (1 << 14);
    }

    private float required(float distance, float min, float max) {
        if (distance >= min && distance <= max) {
            return distance;
        }
        throw new IllegalArgumentException("max_distance must be between " + min + " and " + max + " for "
                + RoostSettings.name(similarity) + ", got " + distance);
    }

    /** Converts a checked vector to bytes. */
    static byte[] bytes(float[] vector) {
        byte[] bytes = new byte[vector.length];
        for (int i = 0; i < vector.length; i++) {
            bytes[i] = (byte) vector[i];
        }
        return bytes;
    }
}
