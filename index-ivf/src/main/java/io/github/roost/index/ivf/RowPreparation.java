package io.github.roost.index.ivf;

import io.github.roost.core.Metric;

/** Checks vectors at the table's border and makes them what its metric compares: unit vectors for the cosine. */
record RowPreparation(Metric metric, int dimension) {
    /** Checks all rows and takes the dimension of the first. */
    static RowPreparation of(Metric metric, float[][] rows) {
        if (rows.length == 0) {
            throw new IllegalArgumentException("a table needs at least one row to learn its lists from, got none");
        }
        int dimension = rows[0].length;
        if (dimension < 1 || dimension > IvfTable.MAX_DIMENSION) {
            throw new IllegalArgumentException(
                    String.format("dimension must be between 1 and %,d, got %,d", IvfTable.MAX_DIMENSION, dimension));
        }
        RowPreparation preparation = new RowPreparation(metric, dimension);
        for (int row = 0; row < rows.length; row++) {
            preparation.check("row " + row, rows[row]);
        }
        return preparation;
    }

    /** A checked row as it is stored. */
    float[] stored(float[] row) {
        return metric == Metric.COSINE ? normalised(row) : row;
    }

    /** A copy of the query, checked. */
    float[] prepareQuery(float[] query) {
        check("query", query);
        return metric == Metric.COSINE ? normalised(query) : query.clone();
    }

    private void check(String what, float[] vector) {
        if (vector.length != dimension) {
            throw new IllegalArgumentException(what + " must have dimension " + dimension + ", got " + vector.length);
        }
        boolean zero = true;
        for (int i = 0; i < vector.length; i++) {
            if (!Float.isFinite(vector[i])) {
                throw new IllegalArgumentException(what + " must be finite, got " + vector[i] + " at component " + i);
            }
            zero &= vector[i] == 0;
        }
        if (zero && metric == Metric.COSINE) {
            throw new IllegalArgumentException(what + " must not be zero under the cosine metric");
        }
    }

    private static float[] normalised(float[] vector) {
        double squares = 0;
        for (float component : vector) {
            squares += (double) component * component;
        }
        double norm = Math.sqrt(squares);
        float[] unit = new float[vector.length];
        for (int i = 0; i < unit.length; i++) {
            unit[i] = (float) (vector[i] / norm);
        }
        return unit;
    }
}
