package io.github.roost.index.hnsw.search;

import io.github.roost.topology.DomainMemory;
import io.github.roost.vector.Metric;
import io.github.roost.vector.spi.ScalarQuantizer;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * Off-heap array of the codes of rows (see {@link ScalarQuantizer}), in row order, from which an image is written. Immutable; thread-safe until it is
 * closed.
 */
public final class CodeTable implements AutoCloseable {
    /** Codes that kernels read at once; rows are padded to a multiple. */
    private static final int LANES = 64;

    private final Metric metric;
    private final ScalarQuantizer quantizer;
    private final int rows;
    private final long stride;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final float[] terms;

    /** A source of vectors. */
    @FunctionalInterface
    public interface Source {
        /** Copies the vector of a row into an array. */
        void row(int row, float[] into) throws IOException;
    }

    private CodeTable(Metric metric, ScalarQuantizer quantizer, int rows) {
        this.metric = metric;
        this.quantizer = quantizer;
        this.rows = rows;
        this.stride = (quantizer.dimension() + LANES - 1L) / LANES * LANES;
        this.terms = new float[rows];
        this.memory = DomainMemory.allocate(rows * stride, arena).segment();
    }

    /** Encodes vectors; reads the source twice, first for the range of each dimension. */
    public static CodeTable learn(Metric metric, int dimension, int rows, Source source) throws IOException {
        ScalarQuantizer.Ranges ranges = new ScalarQuantizer.Ranges(dimension);
        float[] vector = new float[dimension];
        for (int row = 0; row < rows; row++) {
            source.row(row, vector);
            ranges.add(vector);
        }
        return filled(() -> new CodeTable(metric, ranges.evenSteps(), rows), source);
    }

    /** Encodes vectors whose values are integers from -128 to 127, without loss: the codes are the values. */
    public static CodeTable ofBytes(Metric metric, int dimension, int rows, Source source) throws IOException {
        return filled(() -> new CodeTable(metric, ScalarQuantizer.ofBytes(dimension), rows), source);
    }

    private static CodeTable filled(Supplier<CodeTable> empty, Source source) throws IOException {
        CodeTable table = empty.get();
        boolean filled = false;
        try {
            table.fill(source);
            filled = true;
            return table;
        } finally {
            if (!filled) {
                table.close();
            }
        }
    }

    private void fill(Source source) throws IOException {
        float[] vector = new float[quantizer.dimension()];
        byte[] row = new byte[vector.length];
        for (int number = 0; number < rows; number++) {
            source.row(number, vector);
            quantizer.encode(vector, row);
            terms[number] = quantizer.term(metric == Metric.INNER_PRODUCT, row);
            MemorySegment.copy(MemorySegment.ofArray(row), 0, memory, number * stride, row.length);
        }
    }

    /** Number of rows. */
    public int rows() {
        return rows;
    }

    /** Components per vector. */
    public int dimension() {
        return quantizer.dimension();
    }

    /** The metric. */
    public Metric metric() {
        return metric;
    }

    /** Copies the zero points and scales of the codes to an image. */
    public void copyMeaning(GraphImage image) {
        image.setQuantizer(quantizer);
    }

    /** Copies a row's codes to a node of an image. */
    public void copy(int row, GraphImage image, int node) {
        image.setCodes(node, memory, row * stride, terms[row]);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }
}
