package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.index.ivf.kernel.RowRun;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Places {@code first} to {@code first + capacity} exclusive of a {@link RowList}, which documents which threads may call what. A
 * deleted row is marked with NaN in whatever a scan reads first: its first component, or the term of its codes.
 */
final class RowBlock {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
    private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final int first;
    private final int capacity;
    private final RowLayout layout;
    /** The memory of floats and codes. */
    private final MemorySegment bytes;

    private final MemorySegment ids;
    /** All places as floats or float16, or null if only codes are stored. */
    private final @Nullable RowRun floats;
    /** All places as codes, or null if only floats are stored. */
    private final @Nullable CodeRun codes;
    /** Number of places that readers may read; only grows. */
    private volatile int published;

    /** Empty places in new memory. */
    RowBlock(int first, int capacity, RowLayout layout) {
        this(first, capacity, layout, memory(layout.bytes(capacity)));
    }

    /** Places in {@link RowLayout#bytes} of existing memory. */
    RowBlock(int first, int capacity, RowLayout layout, MemorySegment bytes) {
        this.first = first;
        this.capacity = capacity;
        this.layout = layout;
        this.bytes = bytes;
        this.ids = memory((long) capacity * Long.BYTES);
        long codesAt = layout.floatBytesOf(capacity);
        long termsAt = codesAt + layout.codeBytesOf(capacity);
        this.floats = layout.floats()
                ? new RowRun(
                        bytes.asSlice(0, codesAt),
                        ids,
                        capacity,
                        RowRun.strideOf(layout.dimension()),
                        layout.floatBytes())
                : null;
        this.codes = layout.codec() == null
                ? null
                : new CodeRun(
                        bytes.asSlice(codesAt, termsAt - codesAt),
                        bytes.asSlice(termsAt),
                        capacity,
                        CodeRun.strideOf(layout.dimension()));
    }

    /** The bytes of {@link #memory()} of a block in new memory. */
    static long bytes(int capacity, RowLayout layout) {
        return layout.bytes(capacity) + (long) capacity * Long.BYTES;
    }

    private static MemorySegment memory(long bytes) {
        try {
            return Arena.ofAuto().allocate(bytes, 64);
        } catch (OutOfMemoryError full) {
            OutOfMemoryError named = new OutOfMemoryError("no memory for " + bytes
                    + " more bytes of rows, which the JVM counts against -XX:MaxDirectMemorySize, which is as much as -Xmx"
                    + " where it is not set: " + full.getMessage());
            named.initCause(full);
            throw named;
        }
    }

    /** The rows of a list in a mapped file. */
    static RowBlock mapped(long[] ids, MemorySegment bytes, RowLayout layout) {
        RowBlock block = new RowBlock(0, ids.length, layout, bytes);
        MemorySegment.copy(ids, 0, block.ids, LONG, 0, ids.length);
        block.published = ids.length;
        return block;
    }

    /** A writable copy. */
    RowBlock inMemory() {
        RowBlock copy = new RowBlock(first, capacity, layout);
        if (floats != null && copy.floats != null) {
            copy.floats.vectors().copyFrom(floats.vectors());
        }
        if (codes != null && copy.codes != null) {
            copy.codes.codes().copyFrom(codes.codes());
            copy.codes.terms().copyFrom(codes.terms());
        }
        copy.ids.copyFrom(ids);
        copy.published = published;
        return copy;
    }

    /** The memory of the block. */
    Stream<MemorySegment> memory() {
        return Stream.of(bytes, ids);
    }

    boolean isReadOnly() {
        return (floats != null && floats.vectors().isReadOnly())
                || (codes != null && codes.codes().isReadOnly());
    }

    boolean holds(int place) {
        return place >= first && place < first + capacity;
    }

    /** Number of places. */
    int capacity() {
        return capacity;
    }

    /** Number of places that readers may read. */
    int published() {
        return published;
    }

    /** Lets readers read the places before {@code end}, which may lie outside the block on either side. */
    void publishUpTo(int end) {
        int count = Math.clamp(end - first, 0, capacity);
        if (count > published) {
            published = count;
        }
    }

    void publishAll() {
        published = capacity;
    }

    void write(int place, long id, float[] row) {
        int at = place - first;
        if (floats != null) {
            if (isFloat16()) {
                for (int d = 0; d < row.length; d++) {
                    setHalf(at, d, row[d]);
                }
            } else {
                MemorySegment.copy(row, 0, floats.vectors(), FLOAT, at * floatRowBytes(), row.length);
            }
        }
        if (codes != null) {
            layout.requireCodec().write(codes, at, row, floats != null);
        }
        ids.setAtIndex(LONG, at, id);
    }

    /** Copies the live row at a place of another block of this layout. */
    void copy(int place, RowBlock from, int fromPlace) {
        int at = place - first;
        int fromAt = fromPlace - from.first;
        if (floats != null && from.floats != null) {
            long bytes = floatRowBytes();
            MemorySegment.copy(from.floats.vectors(), fromAt * bytes, floats.vectors(), at * bytes, bytes);
        }
        if (codes != null && from.codes != null) {
            codes.write(at, from.codes.read(fromAt), from.codes.term(fromAt), from.codes.scale(fromAt));
        }
        ids.setAtIndex(LONG, at, from.ids.getAtIndex(LONG, fromAt));
    }

    void markDeleted(int place) {
        int at = place - first;
        if (codes != null) {
            codes.terms().setAtIndex(FLOAT, at, Float.NaN);
        }
        if (floats != null) {
            if (isFloat16()) {
                setHalf(at, 0, Float.NaN);
            } else {
                floats.vectors().set(FLOAT, at * floatRowBytes(), Float.NaN);
            }
        }
    }

    private boolean isAlive(int at) {
        if (floats == null) {
            return codes != null && !Float.isNaN(codes.term(at));
        }
        return !Float.isNaN(isFloat16() ? half(at, 0) : floats.vectors().get(FLOAT, at * floatRowBytes()));
    }

    /** A copy of the row at a place, decoded if no floats are stored. */
    float[] row(int place) {
        int at = place - first;
        if (floats == null) {
            return decoded(at);
        }
        float[] row = new float[layout.dimension()];
        if (isFloat16()) {
            for (int d = 0; d < row.length; d++) {
                row[d] = half(at, d);
            }
        } else {
            MemorySegment.copy(floats.vectors(), FLOAT, at * floatRowBytes(), row, 0, row.length);
        }
        return row;
    }

    /** Row {@code at} of the block, decoded from its codes. */
    float[] decoded(int at) {
        if (codes == null) {
            throw new IllegalStateException("the list keeps no codes");
        }
        return layout.requireCodec().decode(codes.read(at), codes.scale(at));
    }

    /** The id of row {@code at} of the block. */
    long id(int at) {
        return ids.getAtIndex(LONG, at);
    }

    boolean keepsFloats() {
        return floats != null;
    }

    /** The first {@code count} rows as floats or float16. */
    RowRun floats(int count) {
        return floats().slice(0, count);
    }

    /** All places as floats or float16. */
    RowRun floats() {
        if (floats == null) {
            throw new IllegalStateException("the list keeps no floats");
        }
        return floats;
    }

    /** All places as codes. */
    CodeRun codes() {
        if (codes == null) {
            throw new IllegalStateException("the list keeps no codes");
        }
        return codes;
    }

    void forEachLive(RowList.RowVisitor visitor) {
        int count = published;
        for (int at = 0; at < count; at++) {
            if (isAlive(at)) {
                visitor.row(id(at), first + at);
            }
        }
    }

    private long floatRowBytes() {
        return (long) RowRun.strideOf(layout.dimension()) * layout.floatBytes();
    }

    private boolean isFloat16() {
        return layout.floatBytes() == Short.BYTES;
    }

    private float half(int at, int component) {
        return Float.float16ToFloat(
                floats().vectors().get(HALF, at * floatRowBytes() + (long) component * Short.BYTES));
    }

    private void setHalf(int at, int component, float value) {
        long offset = at * floatRowBytes() + (long) component * Short.BYTES;
        floats().vectors().set(HALF, offset, Float.floatToFloat16(value));
    }
}
