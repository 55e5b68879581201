package io.github.roost.index.ivf.kernel;

import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;

/** Scans runs of rows for groups of queries: distance, threshold and heap in one pass. Thread-safe. */
public interface ScanKernel {
    /**
     * Offers every row to every query's heap. Distances are those of {@link Metric}; under
     * {@link Metric#COSINE} queries and rows must have length 1.
     *
     * @param queries the group, row-major, {@code top}'s number of queries times {@code dimension} floats
     * @param dimension floats a row
     * @param rows {@code count} rows, row-major
     * @param ids {@code count} 64-bit ids
     * @param count number of rows
     * @param top the heaps
     * @throws IndexOutOfBoundsException if an argument is smaller than the others say
     */
    void scan(
            Metric metric, float[] queries, int dimension, MemorySegment rows, MemorySegment ids, long count, TopK top);

    /** What it is, for reports: {@code avx512}, {@code avx2}, {@code neon}, {@code portable} or {@code java}. */
    String name();

    /** Checks what every kernel needs before it touches memory. */
    static void check(float[] queries, int dimension, MemorySegment rows, MemorySegment ids, long count, TopK top) {
        require("queries", queries.length, (long) top.queries * dimension);
        require("row bytes", rows.byteSize(), count * dimension * Float.BYTES);
        require("id bytes", ids.byteSize(), count * Long.BYTES);
    }

    private static void require(String what, long size, long least) {
        if (size < least || least < 0) {
            throw new IndexOutOfBoundsException(what + " must be at least " + least + ", got " + size);
        }
    }
}
