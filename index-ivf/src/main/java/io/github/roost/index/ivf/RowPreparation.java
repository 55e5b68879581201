package io.github.roost.index.ivf;

import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.math.NearestRows;
import io.github.roost.vector.math.ScalarQuantizer;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Checks the vectors that callers pass and brings them into stored form: unit vectors for the cosine; else, if values are so small or
 * large that their squares leave the range of float, values multiplied by a power of two, which is lossless.
 *
 * @param element type whose range must hold the rows
 * @param exponent rows are multiplied by two to this power
 */
record RowPreparation(Metric metric, int dimension, ElementType element, int exponent) {
    private static final float MAX_HALF = 65_504;
    /** Rows whose largest values have a binary exponent from the negated to this one are stored as they are. */
    private static final int FITTING = 40;
    /** The same for float16, which has fewer exponents below 0. */
    private static final int FITTING_HALF = 4;

    RowPreparation(Metric metric, int dimension, ElementType element) {
        this(metric, dimension, element, 0);
    }

    /** This preparation, with the exponent that fits most rows. */
    RowPreparation fittedTo(IntFunction<float[]> rows, int count) {
        int[] exponents = Arrays.stream(ScalarQuantizer.sample(count))
                .mapToObj(rows)
                .mapToInt(RowPreparation::exponentOf)
                .filter(found -> found >= Float.MIN_EXPONENT - Float.PRECISION)
                .sorted()
                .toArray();
        if (metric == Metric.COSINE || exponents.length == 0) {
            return this;
        }
        int found = exponents[exponents.length / 2];
        int least = element == ElementType.FLOAT16 ? -FITTING_HALF : -FITTING;
        boolean fits = found >= least && found <= FITTING;
        return fits ? this : new RowPreparation(metric, dimension, element, -found);
    }

    /** The binary exponent of the largest absolute value; that of no number for zeros. */
    private static int exponentOf(float[] row) {
        float max = 0;
        for (float value : row) {
            max = Math.max(max, Math.abs(value));
        }
        // In double, as denormal floats have lower exponents.
        return Math.getExponent((double) max);
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
        if (element != ElementType.FLOAT16 || metric == Metric.COSINE) {
            return;
        }
        for (int d = 0; d < row.length; d++) {
            if (Math.abs(Math.scalb(row[d], exponent)) > MAX_HALF) {
                throw new IllegalArgumentException("vector " + number + " must be within "
                        + (exponent == 0 ? "65,504" : Math.scalb(MAX_HALF, -exponent))
                        + " of 0 in FLOAT16 lists, got " + row[d] + " in dimension " + d);
            }
        }
    }

    /** The stored form of a checked row. */
    float[] stored(float[] row) {
        return metric == Metric.COSINE ? Vectors.normalized(row) : scaled(row, exponent);
    }

    /** The stored form of a checked query. The order by inner product does not depend on a query's norm. */
    float[] storedQuery(float[] query) {
        return metric == Metric.INNER_PRODUCT ? query : stored(query);
    }

    /** A stored row as it was passed; under cosine of length 1. */
    float[] original(float[] stored) {
        return scaled(stored, -exponent);
    }

    /** Exponent of distances between stored vectors. */
    private int ofDistances() {
        return metric == Metric.INNER_PRODUCT ? exponent : 2 * exponent;
    }

    /** The distance between stored vectors that stands for a distance. */
    float storedDistance(float distance) {
        return exponent == 0 ? distance : Math.scalb(distance, ofDistances());
    }

    /** A result with the distances between the vectors as they were passed. */
    SearchResult original(SearchResult found) {
        if (exponent == 0) {
            return found;
        }
        long[] ids = found.ids().clone();
        float[] distances = found.distances().clone();
        for (int i = 0; i < distances.length; i++) {
            distances[i] = Math.scalb(distances[i], -ofDistances());
        }
        // Distances that were different may be equal now.
        NearestRows.sortTies(ids, distances, ids.length);
        return new SearchResult(ids, distances).with(found.cost(), found.cutShort());
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
