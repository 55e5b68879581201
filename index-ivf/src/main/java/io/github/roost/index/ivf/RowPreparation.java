package io.github.roost.index.ivf;

import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.RowSizes;

/**
 * Checks the vectors that callers pass and brings them into stored form: unit vectors for the cosine; else, if most rows are so small or
 * large that their squares leave the range of float, values multiplied by a power of two, which loses nothing unless a value becomes
 * denormal.
 *
 * <p>Rows are made larger only as far as the largest of those that the table is built from allows: the squared distance between any two
 * stored rows must be in the range of float. Later rows that are larger than that are refused.
 *
 * @param element type whose range must hold the rows
 * @param exponent rows are multiplied by two to this power
 */
record RowPreparation(Metric metric, int dimension, ElementType element, int exponent) {
    private static final float MAX_HALF = 65_504;
    /** Most rows are stored with largest values whose binary exponent is from the negated to this one. */
    private static final int FITTING = 40;
    /** The same for float16, which has fewer exponents below 0. */
    private static final int FITTING_HALF = 4;
    /** Max binary exponent of enlarged float16 rows, less than that of {@link #MAX_HALF}. */
    private static final int MAX_ENLARGED_HALF = 14;
    /** Binary exponent of the largest value of a query up to which its product with a row of any floats is in the range of float. */
    private static final int MAX_IN_PRODUCT = -14;

    RowPreparation(Metric metric, int dimension, ElementType element) {
        this(metric, dimension, element, 0);
    }

    /** Room for the sizes of rows. */
    static RowSizes sizes() {
        return new RowSizes(Float.MIN_EXPONENT - Float.PRECISION);
    }

    static RowSizes sizesOf(float[][] rows) {
        RowSizes sizes = sizes();
        for (float[] row : rows) {
            sizes.add(row);
        }
        return sizes;
    }

    /** This preparation, with the exponent that fits most rows. */
    RowPreparation fittedTo(RowSizes sizes) {
        if (metric == Metric.COSINE || sizes.isEmpty()) {
            return this;
        }
        int median = sizes.median();
        int least = element == ElementType.FLOAT16 ? -FITTING_HALF : -FITTING;
        int fitting = Math.clamp(median, least, FITTING) - median;
        int allowed = Math.max(0, maxEnlarged() - sizes.largest());
        return new RowPreparation(metric, dimension, element, Math.min(fitting, allowed));
    }

    /** Max binary exponent of the values of enlarged rows: the squared distance of rows of such values is in the range of float. */
    private int maxEnlarged() {
        int exponentOfDimension = Integer.SIZE - Integer.numberOfLeadingZeros(dimension - 1);
        return element == ElementType.FLOAT16 ? MAX_ENLARGED_HALF : (Float.MAX_EXPONENT - 4 - exponentOfDimension) / 2;
    }

    private static float[] scaled(float[] row, int exponent) {
        if (exponent == 0) {
            return row;
        }
        float[] scaled = new float[row.length];
        for (int d = 0; d < row.length; d++) {
            scaled[d] = Math.clamp(Math.scalb(row[d], exponent), -Float.MAX_VALUE, Float.MAX_VALUE);
        }
        return scaled;
    }

    /** Checks all rows and takes the dimension of the first. */
    static RowPreparation of(Metric metric, ElementType element, float[][] rows) {
        RowPreparation preparation = new RowPreparation(metric, Vectors.requireTable(rows, metric), element);
        for (int row = 0; row < rows.length; row++) {
            preparation.requireHeld(row, rows[row]);
        }
        return preparation;
    }

    /**
     * Checks one row.
     *
     * @param number the row's number in error messages
     */
    void requireRow(int number, float[] row) {
        Vectors.requireRow(number, row, dimension, metric);
        requireHeld(number, row);
    }

    private void requireHeld(int number, float[] row) {
        float max = maxPassed();
        for (int d = 0; d < row.length && max < Float.MAX_VALUE; d++) {
            if (Math.abs(row[d]) > max) {
                throw new IllegalArgumentException("vector " + number + " must be within "
                        + (exponent == 0 ? "65,504" : max) + " of 0 in "
                        + (element == ElementType.FLOAT16 ? "FLOAT16 lists" : "lists")
                        + (exponent == 0 ? "" : " built from far smaller rows") + ", got " + row[d] + " in dimension "
                        + d);
            }
        }
    }

    /** The largest value of rows that can be stored. */
    private float maxPassed() {
        if (metric == Metric.COSINE) {
            return Float.MAX_VALUE;
        }
        if (element == ElementType.FLOAT16) {
            return Math.scalb(MAX_HALF, -exponent);
        }
        return exponent > 0 ? Math.scalb(1f, maxEnlarged() + 1 - exponent) : Float.MAX_VALUE;
    }

    /** The stored form of a checked row. */
    float[] stored(float[] row) {
        return metric == Metric.COSINE ? Vectors.normalized(row) : scaled(row, exponent);
    }

    /** The stored form of a checked query. */
    StoredQuery storedQuery(float[] query) {
        return switch (metric) {
            case SQUARED_L2 ->
                exponent == 0 ? new StoredQuery(query) : new StoredQuery(stored(query), 2 * exponent, farFrom(query));
            // The order by inner product does not depend on a query's norm.
            case INNER_PRODUCT -> {
                int size = RowSizes.exponentOf(RowSizes.largestOf(query));
                int fitting = Math.clamp(size, MAX_IN_PRODUCT - FITTING, MAX_IN_PRODUCT) - size;
                yield new StoredQuery(scaled(query, fitting), exponent + fitting, Float.POSITIVE_INFINITY);
            }
            case COSINE -> new StoredQuery(stored(query));
        };
    }

    /**
     * The distance of a query to rows whose stored form it is infinitely far from. Only if rows are enlarged may the distance between
     * the vectors as they were passed be in the range of float. Then the query is far larger than the rows, which hardly count.
     */
    private float farFrom(float[] query) {
        double squares = 0;
        for (float value : query) {
            squares += (double) value * value;
        }
        return exponent < 0
                ? Float.POSITIVE_INFINITY
                : Math.max((float) squares, Math.scalb(Float.MAX_VALUE, -2 * exponent));
    }

    /** A stored row as it was passed; under cosine of length 1. */
    float[] original(float[] stored) {
        return scaled(stored, -exponent);
    }

    /**
     * Checks a row and returns its stored form.
     *
     * @param number the row's number in error messages
     */
    float[] prepareRow(int number, float[] row) {
        requireRow(number, row);
        return stored(row);
    }

    /** Checks rows and returns their stored form. */
    float[][] prepareRows(float[][] rows) {
        float[][] stored = new float[rows.length][];
        for (int i = 0; i < rows.length; i++) {
            stored[i] = prepareRow(i, rows[i]);
        }
        return stored;
    }
}
