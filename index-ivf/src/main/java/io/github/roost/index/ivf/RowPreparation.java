package io.github.roost.index.ivf;

import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;

/**
 * Checks the vectors that callers pass and brings them into stored form: unit vectors for the cosine.
 *
 * @param element type whose range must hold the rows
 */
record RowPreparation(Metric metric, int dimension, ElementType element) {
    private static final float MAX_HALF = 65_504;

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
        if (element != ElementType.FLOAT16 || metric == Metric.COSINE) {
            return;
        }
        for (int d = 0; d < row.length; d++) {
            if (Math.abs(row[d]) > MAX_HALF) {
                throw new IllegalArgumentException("vector " + number
                        + " must be within 65,504 of 0 in FLOAT16 lists, got " + row[d] + " in dimension " + d);
            }
        }
    }

    /** The stored form of a checked row. */
    float[] stored(float[] row) {
        return metric == Metric.COSINE ? Vectors.normalized(row) : row;
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
