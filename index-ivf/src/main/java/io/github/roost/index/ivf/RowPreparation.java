package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Vectors;

/** Checks vectors at the table's border and makes them what its metric compares: unit vectors for the cosine. */
record RowPreparation(Metric metric, int dimension) {
    /** Checks all rows and takes the dimension of the first. */
    static RowPreparation of(Metric metric, float[][] rows) {
        return new RowPreparation(metric, Vectors.requireTable(rows, metric));
    }

    /** A checked row as it is stored. */
    float[] stored(float[] row) {
        return metric == Metric.COSINE ? normalised(row) : row;
    }

    /** Checked rows as they are stored. */
    float[][] prepareRows(float[][] rows) {
        float[][] stored = new float[rows.length][];
        for (int i = 0; i < rows.length; i++) {
            Vectors.require("vector " + i, rows[i], dimension, metric);
            stored[i] = stored(rows[i]);
        }
        return stored;
    }

    /** A copy of the query, checked. */
    float[] prepareQuery(float[] query) {
        Vectors.require("query", query, dimension, metric);
        return metric == Metric.COSINE ? normalised(query) : query.clone();
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
