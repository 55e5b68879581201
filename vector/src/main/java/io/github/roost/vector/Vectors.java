package io.github.roost.vector;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Argument checks and exact distances that all indexes share. Stateless. */
public final class Vectors {
    /** The largest k that a search may ask for. */
    public static final int MAX_NEIGHBORS = 10_000;
    /** The largest ef, or width, of a search of a graph. */
    public static final int MAX_EF = 100_000;
    /** The largest dimension of a vector. */
    public static final int MAX_DIMENSIONS = 4_096;

    private Vectors() {}

    /**
     * Checks the rows of a table.
     *
     * @param vectors the rows
     * @param metric the metric of the table
     * @return the dimension of the rows
     * @throws IllegalArgumentException if there are none, dimensions differ or are out of range, a value is not finite,
     *     or the metric is cosine and a vector is zero
     */
    public static int requireTable(float[][] vectors, Metric metric) {
        Objects.requireNonNull(vectors, "vectors must not be null");
        if (vectors.length == 0) {
            throw new IllegalArgumentException("a table must have at least one vector, got none");
        }
        requirePresent(vectors[0], "vector", 0);
        int dimension = vectors[0].length;
        requireRange("dimension", dimension, 1, MAX_DIMENSIONS);
        for (int row = 0; row < vectors.length; row++) {
            requireRow(row, vectors[row], dimension, metric);
        }
        return dimension;
    }

    /**
     * Checks one vector, a query or a row.
     *
     * @param what its name in messages
     * @param vector the vector
     * @param dimension the required length
     * @param metric the metric of its table
     * @throws IllegalArgumentException if its length is not {@code dimension}, a value is not finite, or the metric is cosine and the
     *     vector is zero
     */
    public static void require(String what, float[] vector, int dimension, Metric metric) {
        requirePresent(vector, what, -1);
        if (!isFit(vector, dimension, metric)) {
            throw refusal(what, vector, dimension);
        }
    }

    /**
     * Like {@link #require}, but names the vector by its row. The name is made only if the vector is refused, since that takes longer than
     * the check.
     *
     * @param row the vector's row, from 0
     * @param vector the vector
     * @param dimension the required length
     * @param metric the metric of its table
     * @throws IllegalArgumentException as {@link #require} does
     */
    public static void requireRow(int row, float[] vector, int dimension, Metric metric) {
        requirePresent(vector, "vector", row);
        if (!isFit(vector, dimension, metric)) {
            throw refusal("vector " + row, vector, dimension);
        }
    }

    /** Callers may be compiled without null checks; makes the name only if it is needed. */
    private static void requirePresent(float @Nullable [] vector, String what, int row) {
        if (vector == null) {
            throw new NullPointerException((row < 0 ? what : what + " " + row) + " must not be null");
        }
    }

    private static boolean isFit(float[] vector, int dimension, Metric metric) {
        if (vector.length != dimension) {
            return false;
        }
        // A single maximum vectorizes, and is NaN if a component is.
        float max = 0;
        for (float component : vector) {
            max = Math.max(max, Math.abs(component));
        }
        return Float.isFinite(max) && (max > 0 || metric != Metric.COSINE);
    }

    private static IllegalArgumentException refusal(String what, float[] vector, int dimension) {
        if (vector.length != dimension) {
            return new IllegalArgumentException(what + " must have " + dimension + " dimensions, got " + vector.length);
        }
        for (int i = 0; i < dimension; i++) {
            if (!Float.isFinite(vector[i])) {
                return new IllegalArgumentException(what + " must be finite, got " + vector[i] + " in dimension " + i);
            }
        }
        return new IllegalArgumentException(what + " must not be zero: it has no cosine");
    }

    /**
     * Returns the squared Euclidean distance as indexes compute it in exact comparisons: in four float sums, so that additions do not form
     * one dependency chain.
     *
     * @param a the first vector
     * @param b the second vector, of the same length
     * @return at least 0, infinite beyond the largest float
     */
    public static float squaredDistance(float[] a, float[] b) {
        float sum0 = 0;
        float sum1 = 0;
        float sum2 = 0;
        float sum3 = 0;
        int d = 0;
        for (; d + 3 < a.length; d += 4) {
            float difference0 = a[d] - b[d];
            float difference1 = a[d + 1] - b[d + 1];
            float difference2 = a[d + 2] - b[d + 2];
            float difference3 = a[d + 3] - b[d + 3];
            sum0 += difference0 * difference0;
            sum1 += difference1 * difference1;
            sum2 += difference2 * difference2;
            sum3 += difference3 * difference3;
        }
        for (; d < a.length; d++) {
            float difference = a[d] - b[d];
            sum0 += difference * difference;
        }
        return (sum0 + sum1) + (sum2 + sum3);
    }

    /**
     * Returns the inner product, in four float sums like {@link #squaredDistance}.
     *
     * @param a the first vector
     * @param b the second vector, of the same length
     * @return the inner product
     */
    public static float product(float[] a, float[] b) {
        float sum0 = 0;
        float sum1 = 0;
        float sum2 = 0;
        float sum3 = 0;
        int d = 0;
        for (; d + 3 < a.length; d += 4) {
            sum0 += a[d] * b[d];
            sum1 += a[d + 1] * b[d + 1];
            sum2 += a[d + 2] * b[d + 2];
            sum3 += a[d + 3] * b[d + 3];
        }
        for (; d < a.length; d++) {
            sum0 += a[d] * b[d];
        }
        return (sum0 + sum1) + (sum2 + sum3);
    }

    /**
     * Scales a vector to length 1, as indexes store rows for the cosine.
     *
     * @param vector finite and not zero; not changed
     * @return a new vector; its length is 1 to within the rounding of its components
     */
    public static float[] normalized(float[] vector) {
        double squares = 0;
        for (float component : vector) {
            squares += (double) component * component;
        }
        double length = Math.sqrt(squares);
        float[] unit = new float[vector.length];
        for (int d = 0; d < unit.length; d++) {
            unit[d] = (float) (vector[d] / length);
        }
        return unit;
    }

    /**
     * Checks that a number is in a range.
     *
     * @param what its name in messages
     * @param value the number
     * @param min the minimum
     * @param max the maximum
     * @throws IllegalArgumentException if the number is out of the range
     */
    public static void requireRange(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "%s must be between %,d and %,d, got %,d".formatted(what, min, max, value));
        }
    }

    /**
     * Checks a recall.
     *
     * @param recall the recall to check
     * @return {@code recall}
     * @throws IllegalArgumentException unless it is over 0 and at most 1
     */
    public static double requireRecall(double recall) {
        if (!(recall > 0 && recall <= 1)) {
            throw new IllegalArgumentException("recall must be over 0 and at most 1, got " + recall);
        }
        return recall;
    }

    /**
     * Checks external ids.
     *
     * @param ids one id per row, all distinct
     * @param rows number of rows
     * @throws IllegalArgumentException if the number of ids is not {@code rows}, or an id occurs twice
     */
    public static void requireIds(long[] ids, int rows) {
        Objects.requireNonNull(ids, "ids must not be null");
        if (ids.length != rows) {
            throw new IllegalArgumentException(
                    "there must be one id per vector, got " + ids.length + " ids for " + rows);
        }
        long[] sorted = ids.clone();
        Arrays.sort(sorted);
        for (int i = 1; i < sorted.length; i++) {
            if (sorted[i] == sorted[i - 1]) {
                throw new IllegalArgumentException("ids must differ, got " + sorted[i] + " twice");
            }
        }
    }
}
