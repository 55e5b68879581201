package io.github.roost.opensearch;

import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * What the vectors of a field are, and the border at which they are checked: those of documents and those of queries alike.
 *
 * @param dimension components per vector
 * @param elements what a component is
 * @param similarity how two vectors are compared
 */
record VectorShape(int dimension, Elements elements, VectorSimilarityFunction similarity) {
    /** How far the squared length of a vector of length 1 may be from 1, of which its components' rounding is the cause. */
    private static final double UNIT_TOLERANCE = 1e-3;

    /** What a component is. */
    enum Elements {
        FLOAT(Float.BYTES),
        BYTE(1);

        private final int bytes;

        Elements(int bytes) {
            this.bytes = bytes;
        }
    }

    /** Bytes of one vector. */
    int bytes() {
        return dimension * elements.bytes;
    }

    /**
     * Checks a vector.
     *
     * @param what names it in the message
     * @throws IllegalArgumentException if it is none of this shape
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

    /** A checked vector of bytes. */
    static byte[] bytes(float[] vector) {
        byte[] bytes = new byte[vector.length];
        for (int i = 0; i < vector.length; i++) {
            bytes[i] = (byte) vector[i];
        }
        return bytes;
    }
}
