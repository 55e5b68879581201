package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Rows that lie one after the other off-heap.
 *
 * @param vectors {@code count} rows of {@code stride} floats, zero beyond the dimension
 * @param ids {@code count} 64-bit ids
 * @param count number of rows
 * @param stride floats from row to row, a multiple of {@link #LANES}
 */
public record RowRun(MemorySegment vectors, MemorySegment ids, long count, int stride) {
    /** The lanes in which every kernel sums, so that all give the same bits. */
    public static final int LANES = 16;

    public RowRun {
        if (stride < LANES || stride % LANES != 0) {
            throw new IllegalArgumentException("stride must be a positive multiple of " + LANES + ", got " + stride);
        }
        requireFloats("vectors", vectors, Math.multiplyExact(count, stride));
        if (ids.byteSize() < count * Long.BYTES) {
            throw new IllegalArgumentException("ids must hold " + count + " longs, got " + ids.byteSize() + " bytes");
        }
    }

    /** Floats from row to row for vectors of {@code dimension}. */
    public static int strideOf(int dimension) {
        return (dimension + LANES - 1) / LANES * LANES;
    }

    /** Rows {@code from} to {@code to} exclusive. */
    public RowRun slice(long from, long to) {
        long rowBytes = (long) stride * Float.BYTES;
        return new RowRun(
                vectors.asSlice(from * rowBytes, (to - from) * rowBytes),
                ids.asSlice(from * Long.BYTES, (to - from) * Long.BYTES),
                to - from,
                stride);
    }

    static void requireFloats(String what, MemorySegment segment, long floats) {
        if (floats < 0 || segment.byteSize() < floats * Float.BYTES) {
            throw new IllegalArgumentException(
                    what + " must hold " + floats + " floats, got " + segment.byteSize() + " bytes");
        }
    }
}
