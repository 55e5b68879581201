package io.github.roost.examples.serve;

import io.github.roost.core.Metric;
import io.jhdf.HdfFile;
import io.jhdf.api.Attribute;
import io.jhdf.api.Dataset;
import io.jhdf.exceptions.HdfException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/** The rows of an HDF5 file of ann-benchmarks: dataset {@code train}, and the metric that attribute {@code distance} names. */
final class HdfRows {
    private static final String ROWS = "train";

    private HdfRows() {}

    /** @throws IOException if the file is no HDF5, or names a distance that no table has */
    static Metric metric(Path file) throws IOException {
        try (HdfFile hdf = new HdfFile(file)) {
            Attribute distance = hdf.getAttribute("distance");
            Object named = distance == null ? "euclidean" : distance.getData();
            return switch (String.valueOf(named)) {
                case "euclidean" -> Metric.SQUARED_L2;
                case "angular", "cosine" -> Metric.COSINE;
                case "dot", "ip" -> Metric.INNER_PRODUCT;
                default ->
                    throw new IOException(
                            file + " measures distances by " + named + ", it must be euclidean, angular or dot");
            };
        } catch (HdfException broken) {
            throw new IOException(file + " cannot be read as HDF5: " + broken.getMessage(), broken);
        }
    }

    /** @throws IOException if the file is no HDF5, or has no dataset of rows of floats */
    static float[][] read(Path file) throws IOException {
        try (HdfFile hdf = new HdfFile(file)) {
            if (!(hdf.getChild(ROWS) instanceof Dataset rows)) {
                throw new IOException(file + " has no dataset \"" + ROWS + "\", which ann-benchmarks' files have");
            }
            return switch (rows.getData()) {
                case float[][] floats -> floats;
                case double[][] doubles ->
                    Arrays.stream(doubles).map(HdfRows::narrowed).toArray(float[][]::new);
                case null, default ->
                    throw new IOException("%s has a dataset \"%s\" of %s in %d dimensions, it must be rows of floats"
                            .formatted(file, ROWS, rows.getJavaType(), rows.getDimensions().length));
            };
        } catch (HdfException broken) {
            throw new IOException(file + " cannot be read as HDF5: " + broken.getMessage(), broken);
        }
    }

    private static float[] narrowed(double[] row) {
        float[] floats = new float[row.length];
        for (int i = 0; i < row.length; i++) {
            floats[i] = (float) row[i];
        }
        return floats;
    }
}
