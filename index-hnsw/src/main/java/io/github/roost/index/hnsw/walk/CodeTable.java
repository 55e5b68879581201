package io.github.roost.index.hnsw.walk;

import io.github.roost.core.Metric;
import io.github.roost.core.vector.ScalarQuantizer;
import io.github.roost.topology.DomainMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * The {@link Codes} of rows, in the order of their numbers, off-heap: what an image of them is written from. Immutable once
 * made; thread-safe until it is closed.
 */
public final class CodeTable implements AutoCloseable {
    /** Kernels read codes so many at a time. */
    private static final int LANES = 64;

    private final Codes codes;
    private final int rows;
    private final long stride;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final float[] terms;

    /** Copies a row's vector into an array. */
    @FunctionalInterface
    public interface Source {
        /** Copies the vector of a row. */
        void row(int row, float[] into) throws IOException;
    }

    private CodeTable(Codes codes, int rows) {
        this.codes = codes;
        this.rows = rows;
        this.stride = (codes.quantizer().dimension() + LANES - 1L) / LANES * LANES;
        this.terms = new float[rows];
        this.memory = DomainMemory.allocate(rows * stride, arena).segment();
    }

    /** Codes of vectors that are shown twice. */
    public static CodeTable learn(Metric metric, int dimension, int rows, Source source) throws IOException {
        ScalarQuantizer.Ranges ranges = new ScalarQuantizer.Ranges(dimension);
        float[] vector = new float[dimension];
        for (int row = 0; row < rows; row++) {
            source.row(row, vector);
            ranges.add(vector);
        }
        return filled(() -> new CodeTable(new Codes(metric, ranges.evenSteps()), rows), source);
    }

    /** Codes that are the values, of vectors whose values are whole numbers from -128 to 127. */
    public static CodeTable ofBytes(Metric metric, int dimension, int rows, Source source) throws IOException {
        return filled(() -> new CodeTable(new Codes(metric, ScalarQuantizer.ofBytes(dimension)), rows), source);
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
        float[] vector = new float[codes.quantizer().dimension()];
        byte[] row = new byte[vector.length];
        for (int number = 0; number < rows; number++) {
            source.row(number, vector);
            terms[number] = codes.encode(vector, row);
            MemorySegment.copy(MemorySegment.ofArray(row), 0, memory, number * stride, row.length);
        }
    }

    /** How many rows there are. */
    public int rows() {
        return rows;
    }

    /** Components of a vector. */
    public int dimension() {
        return codes.quantizer().dimension();
    }

    /** How distances are measured. */
    public Metric metric() {
        return codes.metric();
    }

    /** Writes what codes stand for to an image. */
    public void copyMeaning(GraphImage image) {
        image.setSteps(codes.quantizer().zeroPoints(), codes.quantizer().scales());
    }

    /** Writes a row's codes to an image, as those of a node. */
    public void copy(int row, GraphImage image, int node) {
        image.setCodes(node, memory, row * stride, terms[row]);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }
}
