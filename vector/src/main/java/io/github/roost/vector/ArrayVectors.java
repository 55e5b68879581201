package io.github.roost.vector;

import java.util.Objects;
import java.util.function.ToIntFunction;

/** Rows read by a function that copies one. Thread-safe if the function is. */
record ArrayVectors(int size, int dimension, Reader reader) implements VectorSource {
    @FunctionalInterface
    interface Reader {
        void read(int row, float[] into);
    }

    /**
     * Returns the common length of the rows.
     *
     * @throws NullPointerException if the rows or one of them is null
     * @throws IllegalArgumentException if there are none, or their lengths differ
     */
    static <T> int dimension(T[] rows, ToIntFunction<T> lengthOf) {
        Objects.requireNonNull(rows, "rows must not be null");
        if (rows.length == 0) {
            throw new IllegalArgumentException("there must be at least one vector, got none");
        }
        int dimension = length(rows, 0, lengthOf);
        for (int row = 1; row < rows.length; row++) {
            int length = length(rows, row, lengthOf);
            if (length != dimension) {
                throw new IllegalArgumentException(
                        "vector " + row + " must have " + dimension + " dimensions, got " + length);
            }
        }
        return dimension;
    }

    private static <T> int length(T[] rows, int row, ToIntFunction<T> lengthOf) {
        return lengthOf.applyAsInt(Objects.requireNonNull(rows[row], () -> "vector " + row + " must not be null"));
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
