package io.github.roost.index.ivf.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Contiguous rows off-heap.
 *
 * @param vectors {@code count} rows of {@code stride} components, zero beyond the dimension
 * @param ids {@code count} 64-bit ids
 * @param count number of rows
 * @param stride components per row with padding, a multiple of {@link #LANES}
 * @param componentBytes 4 for floats, 2 for float16
 */
public record RowRun(MemorySegment vectors, MemorySegment ids, long count, int stride, int componentBytes) {
    /** The lanes in which every kernel sums, so that results are bit-equal. */
    public static final int LANES = 16;

    public RowRun {
        if (stride < LANES || stride % LANES != 0) {
            throw new IllegalArgumentException("stride must be a positive multiple of " + LANES + ", got " + stride);
        }
        if (componentBytes != Float.BYTES && componentBytes != Short.BYTES) {
            throw new IllegalArgumentException("a component must take 4 or 2 bytes, got " + componentBytes);
        }
        long components = Math.multiplyExact(count, stride);
        if (components < 0 || vectors.byteSize() / componentBytes < components) {
            throw new IllegalArgumentException("vectors must hold " + components + " components of " + componentBytes
                    + " bytes, got " + vectors.byteSize() + " bytes");
        }
        if (ids.byteSize() < count * Long.BYTES) {
            throw new IllegalArgumentException("ids must hold " + count + " longs, got " + ids.byteSize() + " bytes");
        }
    }

    /** Rows of floats. */
    public RowRun(MemorySegment vectors, MemorySegment ids, long count, int stride) {
        this(vectors, ids, count, stride, Float.BYTES);
    }

    /** The stride for vectors of {@code dimension}. */
    public static int strideOf(int dimension) {
        return (dimension + LANES - 1) / LANES * LANES;
    }

    /** Bytes per row. */
    public long rowBytes() {
        return (long) stride * componentBytes;
    }

    /** Rows {@code from} to {@code to} exclusive. */
    public RowRun slice(long from, long to) {
        return new RowRun(
                vectors.asSlice(from * rowBytes(), (to - from) * rowBytes()),
                ids.asSlice(from * Long.BYTES, (to - from) * Long.BYTES),
                to - from,
                stride,
                componentBytes);
    }
}
