package io.github.roost.table;

import static io.github.roost.table.Schema.INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * The rows of one version: an index of places, and the values there. By one writer, or for any number of readers; with upserts for
 * both at once, where each reader has a {@link LongTable.Reader} of the index.
 */
final class Version implements AutoCloseable {
    private final long number;
    private final Schema schema;
    private final LongTable index;
    private final Values values;
    /** Bytes of rows that another one has replaced. */
    private long replacedBytes;

    Version(long number, Schema schema, LongTable index, Values values) {
        this.number = number;
        this.schema = schema;
        this.index = index;
        this.values = values;
    }

    /** An empty version, to be filled. */
    static Version empty(long number, Schema schema, long expected) {
        return new Version(number, schema, LongTable.builder(expected).build(), Values.empty());
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
        long before = index.put(key, values.append(row, 0, row.byteSize()));
        if (before != LongTable.ABSENT) {
            replacedBytes += Values.taken(row(before).byteSize());
        }
    }

    boolean remove(long key) {
        long before = index.remove(key);
        if (before == LongTable.ABSENT) {
            return false;
        }
        replacedBytes += Values.taken(row(before).byteSize());
        return true;
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
        index.close();
        values.close();
    }
}
