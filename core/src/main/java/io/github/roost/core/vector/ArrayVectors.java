package io.github.roost.core.vector;

import java.util.Objects;
import java.util.function.IntUnaryOperator;

/** Rows read by a function that copies one. Thread-safe if the function is. */
record ArrayVectors(int size, int dimension, Reader reader) implements VectorSource {
    @FunctionalInterface
    interface Reader {
        void read(int row, float[] into);
    }

    /** Returns the common length of the rows; throws IllegalArgumentException if there are none or their lengths differ. */
    static int dimension(int rows, IntUnaryOperator length) {
        if (rows == 0) {
            throw new IllegalArgumentException("there must be at least one vector, got none");
        }
        int dimension = length.applyAsInt(0);
        for (int row = 1; row < rows; row++) {
            if (length.applyAsInt(row) != dimension) {
                throw new IllegalArgumentException(
                        "vector " + row + " must have " + dimension + " dimensions, got " + length.applyAsInt(row));
            }
        }
        return dimension;
    }

    @Override
    public void read(int row, float[] into) {
        Objects.checkIndex(row, size);
        if (into.length != dimension) {
            throw new IllegalArgumentException("the array must have " + dimension + " components, got " + into.length);
        }
        reader.read(row, into);
    }
}
