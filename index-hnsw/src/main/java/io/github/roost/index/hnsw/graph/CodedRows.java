package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.topology.system.DomainMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * SQ8 codes of vectors (see {@link ScalarQuantizer}), off-heap, in row order: one byte per component, with each row padded to a multiple
 * of 64 bytes. Thread-safe until it is closed.
 */
public final class CodedRows implements AutoCloseable {
    /** Codes that kernels read at once; rows are padded to a multiple. */
    private static final int LANES = 64;

    private final Metric metric;
    private final ScalarQuantizer quantizer;
    private final int rows;
    private final long stride;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final float[] terms;

    private CodedRows(Metric metric, ScalarQuantizer quantizer, int rows) {
        this.metric = metric;
        this.quantizer = quantizer;
        this.rows = rows;
        this.stride = (quantizer.dimension() + LANES - 1L) / LANES * LANES;
        this.terms = new float[rows];
        this.memory = DomainMemory.allocate(rows * stride, arena);
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
        ScalarQuantizer.Ranges ranges = new ScalarQuantizer.Ranges(dimension);
        float[] vector = new float[dimension];
        for (int row = 0; row < rows; row++) {
            source.row(row, vector);
            ranges.add(vector);
        }
        return new CodedRows(metric, ranges.evenSteps(), rows).filled(source);
    }

    /**
     * Encodes vectors whose values are integers from -128 to 127, without loss: the codes are the values. Reads the vectors once, in
     * order.
     *
     * @param metric the metric of the graph's searches; not {@link Metric#COSINE}, which needs vectors of length 1
     * @param dimension components per vector, from 1 to 4,096
     * @param rows number of vectors, from 1
     * @param source the vectors
     * @return their codes
     * @throws IOException if the source throws it
     */
    public static CodedRows ofBytes(Metric metric, int dimension, int rows, Source source) throws IOException {
        return new CodedRows(metric, ScalarQuantizer.ofBytes(dimension), rows).filled(source);
    }

    private CodedRows filled(Source source) throws IOException {
        boolean filled = false;
        try {
            float[] vector = new float[quantizer.dimension()];
            byte[] row = new byte[vector.length];
            for (int number = 0; number < rows; number++) {
                source.row(number, vector);
                quantizer.encode(vector, row);
                terms[number] = quantizer.term(metric == Metric.INNER_PRODUCT, row);
                MemorySegment.copy(MemorySegment.ofArray(row), 0, memory, number * stride, row.length);
            }
            filled = true;
            return this;
        } finally {
            if (!filled) {
                close();
            }
        }
    }

    /**
     * The number of vectors.
     *
     * @return at least 1
     */
    public int rows() {
        return rows;
    }

    int dimension() {
        return quantizer.dimension();
    }

    Metric metric() {
        return metric;
    }

    /**
     * Copies the zero points and scales of the codes to an image.
     *
     * @param image an image of codes
     */
    public void copyQuantizer(GraphImage image) {
        image.setQuantizer(quantizer);
    }

    /**
     * Copies a row's codes to a node of an image.
     *
     * @param row the row
     * @param image an image of codes of this dimension
     * @param node the node
     */
    public void copy(int row, GraphImage image, int node) {
        image.setCodes(node, memory, row * stride, terms[row]);
    }

    /** Frees the memory. The codes must not be used afterwards. */
    @Override
    public void close() {
        arena.close();
    }
}
