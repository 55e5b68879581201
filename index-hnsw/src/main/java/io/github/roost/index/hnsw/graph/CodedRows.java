package io.github.roost.index.hnsw.graph;

import io.github.roost.core.Metric;
import io.github.roost.index.hnsw.walk.CodeTable;
import java.io.IOException;

/**
 * Vectors as graphs are walked by them: a byte per component, of 256 even steps between the least and the greatest value of
 * the dimension (scalar quantisation; Jayant and Noll, 1984). Off-heap, of as many bytes as the vectors have components, each
 * row's rounded up to 64. Thread-safe until it is closed.
 */
public final class CodedRows implements AutoCloseable {
    private final CodeTable table;

    private CodedRows(CodeTable table) {
        this.table = table;
    }

    /** Vectors, numbered from 0. */
    @FunctionalInterface
    public interface Source {
        /**
         * Copies a vector.
         *
         * @param row its number
         * @param into as long as vectors have components; all its values are to be finite
         * @throws IOException if it cannot be read; ends what asked for it
         */
        void row(int row, float[] into) throws IOException;
    }

    /**
     * Encodes vectors of floats, which are asked for in order, twice.
     *
     * @param metric by which the graph will be searched; under {@link Metric#COSINE} vectors are to be of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows how many vectors there are, from 1
     * @param source has the vectors
     * @return their codes
     * @throws IOException what the source throws
     */
    public static CodedRows ofFloats(Metric metric, int dimension, int rows, Source source) throws IOException {
        return new CodedRows(CodeTable.learn(metric, dimension, rows, source::row));
    }

    /**
     * Encodes vectors whose values are whole numbers from -128 to 127, without loss; they are asked for in order.
     *
     * @param metric by which the graph will be searched; not {@link Metric#COSINE}, for which vectors are of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows how many vectors there are, from 1
     * @param source has the vectors
     * @return their codes
     * @throws IOException what the source throws
     */
    public static CodedRows ofBytes(Metric metric, int dimension, int rows, Source source) throws IOException {
        return new CodedRows(CodeTable.ofBytes(metric, dimension, rows, source::row));
    }

    /**
     * How many vectors there are.
     *
     * @return at least 1
     */
    public int rows() {
        return table.rows();
    }

    CodeTable table() {
        return table;
    }

    /** Frees the memory. Nothing may use the codes any more. */
    @Override
    public void close() {
        table.close();
    }
}
