package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.CodeTable;
import io.github.roost.vector.Metric;
import java.io.IOException;

/**
 * SQ8 codes of vectors: a byte per component, which divides the range between the min and max value of the dimension into 256 even
 * steps (scalar quantization; Jayant and Noll, 1984). Off-heap, one byte per component, with each row padded to a multiple of 64
 * bytes. Thread-safe until it is closed.
 */
public final class CodedRows implements AutoCloseable {
    private final CodeTable table;

    private CodedRows(CodeTable table) {
        this.table = table;
    }

    /** A source of vectors, numbered from 0. */
    @FunctionalInterface
    public interface Source {
        /**
         * Copies a vector.
         *
         * @param row number of the vector
         * @param into the destination, with one element per component; all values must be finite
         * @throws IOException if the vector cannot be read; aborts the encoding
         */
        void row(int row, float[] into) throws IOException;
    }

    /**
     * Encodes float vectors. Reads all vectors twice, each time in order.
     *
     * @param metric the metric of the graph's searches; under {@link Metric#COSINE} vectors must be of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows number of vectors, from 1
     * @param source the vectors
     * @return their codes
     * @throws IOException if the source throws it
     */
    public static CodedRows ofFloats(Metric metric, int dimension, int rows, Source source) throws IOException {
        return new CodedRows(CodeTable.learn(metric, dimension, rows, source::row));
    }

    /**
     * Encodes vectors whose values are integers from -128 to 127, without loss. Reads the vectors once, in order.
     *
     * @param metric the metric of the graph's searches; not {@link Metric#COSINE}, which needs vectors of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows number of vectors, from 1
     * @param source the vectors
     * @return their codes
     * @throws IOException if the source throws it
     */
    public static CodedRows ofBytes(Metric metric, int dimension, int rows, Source source) throws IOException {
        return new CodedRows(CodeTable.ofBytes(metric, dimension, rows, source::row));
    }

    /**
     * The number of vectors.
     *
     * @return at least 1
     */
    public int rows() {
        return table.rows();
    }

    CodeTable table() {
        return table;
    }

    /** Frees the memory. The codes must not be used afterwards. */
    @Override
    public void close() {
        table.close();
    }
}
