package io.github.roost.table;

import static io.github.roost.table.Schema.INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one version: an index of places, and the values there. By one writer, or for any number of readers; with upserts for
 * both at once, where each reader has a {@link LongTable.Reader} of the index.
 */
final class Version implements AutoCloseable {
    private final long number;
    private final Schema schema;
    private final LongTable index;
    private final Values values;
    /** Null where all values are in memory; else no others are there. */
    private final @Nullable ColdValues cold;
    /** Bytes of rows that another one has replaced. */
    private long replacedBytes;
    /** Bytes of the longest row that was put. */
    private int mostRowBytes;

    Version(long number, Schema schema, LongTable index, Values values, @Nullable ColdValues cold) {
        this.number = number;
        this.schema = schema;
        this.index = index;
        this.values = values;
        this.cold = cold;
    }

    /** An empty version, to be filled. */
    static Version empty(long number, Schema schema, long expected) {
        return new Version(number, schema, LongTable.builder(expected).build(), Values.empty(), null);
    }

    long number() {
        return number;
    }

    Schema schema() {
        return schema;
    }

    LongTable index() {
        return index;
    }

    Values values() {
        return values;
    }

    @Nullable
    ColdValues cold() {
        return cold;
    }

    int mostRowBytes() {
        return mostRowBytes;
    }

    /** Memory of the values. */
    long valueBytes() {
        return cold == null ? values.bytes() : cold.memoryBytes();
    }

    long replacedBytes() {
        return replacedBytes;
    }

    /** Adds a key that must not be there. */
    void add(long key, MemorySegment row) {
        if (index.get(key, LongTable.ABSENT) != LongTable.ABSENT) {
            throw new IllegalArgumentException("key " + key + " must be loaded once, got it twice");
        }
        put(key, row);
    }

    /** Adds or replaces a row. Whatever fails has changed nothing that is read. */
    void put(long key, MemorySegment row) {
        String fault = schema.fault(row, 0, row.byteSize());
        if (fault != null) {
            throw new IllegalArgumentException("key " + key + " " + fault);
        }
        if (cold != null) {
            putCold(cold, key, row);
            return;
        }
        long before = index.put(key, values.append(row, 0, row.byteSize()));
        mostRowBytes = Math.max(mostRowBytes, (int) row.byteSize());
        if (before != LongTable.ABSENT) {
            replacedBytes += Values.taken(row(before).byteSize());
        }
    }

    private static void putCold(ColdValues cold, long key, MemorySegment row) {
        try {
            cold.put(key, row);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "key " + key + " is not put, as rows before it cannot be written: " + e.getMessage(), e);
        }
    }

    boolean remove(long key) {
        if (cold != null) {
            return cold.remove(key);
        }
        long before = index.remove(key);
        if (before == LongTable.ABSENT) {
            return false;
        }
        replacedBytes += Values.taken(row(before).byteSize());
        return true;
    }

    /** Bytes of the row at a place. */
    int rowBytes(long place) {
        return values.chunks()[Values.chunk(place)].get(INT, Values.offset(place));
    }

    /** The row at a place. */
    MemorySegment row(long place) {
        MemorySegment chunk = values.chunks()[Values.chunk(place)];
        long at = Values.offset(place);
        return chunk.asSlice(at + Integer.BYTES, chunk.get(INT, at));
    }

    /** Columns of places, written into a batch; absent where the place is. Asks for all lengths first, so that the misses overlap. */
    void copy(MemorySegment places, int n, Projection projection, RowBatch batch) {
        MemorySegment[] chunks = values.chunks();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            long place = places.getAtIndex(JAVA_LONG, i);
            if (place != LongTable.ABSENT) {
                MemorySegment chunk = chunks[Values.chunk(place)];
                long at = Values.offset(place);
                sum += projection.bytes(chunk, at + Integer.BYTES, chunk.get(INT, at));
            }
        }
        batch.reserve(n, sum);
        batch.begin(projection.schema(), number, n);
        MemorySegment out = batch.room();
        long first = batch.firstRow();
        long end = first;
        for (int i = 0; i < n; i++) {
            long place = places.getAtIndex(JAVA_LONG, i);
            if (place != LongTable.ABSENT) {
                MemorySegment chunk = chunks[Values.chunk(place)];
                long at = Values.offset(place);
                end = projection.copy(chunk, at + Integer.BYTES, chunk.get(INT, at), out, end);
            }
            batch.setEnd(i, end - first, place != LongTable.ABSENT);
        }
    }

    @Override
    public void close() {
        // Who gives rows other places stops first.
        if (cold != null) {
            cold.close();
        }
        index.close();
        values.close();
    }
}
