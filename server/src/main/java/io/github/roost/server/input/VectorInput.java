package io.github.roost.server.input;

import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorFile;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The vectors of a file in a format chosen by its extension: fvecs and similar formats, or HDF5 of ann-benchmarks. Close it after the last read.
 * Thread-safe.
 */
public final class VectorInput implements AutoCloseable {
    /** The supported formats, for descriptions of options. */
    public static final String FORMATS = "fvecs, bvecs, fbin, u8bin, i8bin, f16bin, or hdf5 of ann-benchmarks";

    private final VectorSource rows;
    private final Runnable close;

    private VectorInput(VectorSource rows, Runnable close) {
        this.rows = rows;
        this.close = close;
    }

    /** Opens the rows to index. */
    public static VectorInput rows(Path file) throws IOException {
        return open(file, HdfVectors.ROWS);
    }

    /** Opens queries. */
    public static VectorInput queries(Path file) throws IOException {
        return open(file, HdfVectors.QUERIES);
    }

    private static VectorInput open(Path file, String dataset) throws IOException {
        if (HdfVectors.isNamed(file)) {
            HdfVectors vectors = HdfVectors.open(file, dataset);
            return new VectorInput(vectors, vectors::close);
        }
        VectorFile vectors = VectorFile.open(file);
        return new VectorInput(vectors, vectors::close);
    }

    /** The metric named by a file, otherwise squared Euclidean distance. */
    public static Metric metric(Path file) throws IOException {
        return HdfVectors.isNamed(file) ? HdfVectors.metric(file) : Metric.SQUARED_L2;
    }

    /** The vectors. */
    public VectorSource vectors() {
        return rows;
    }

    @Override
    public void close() {
        close.run();
    }
}
