package io.github.roost.rows;

import static io.github.roost.rows.Schema.INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.neighborhash.NeighborHashMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one version: an index from keys to places, and the values at these places. For one writer, or any number of readers. With upserts, for
 * one writer and any number of readers at once; each reader then uses a {@link NeighborHashMap.Reader} of the index.
 */
final class Version implements AutoCloseable {
    /** Rows per batch when rows of the current version are copied to the next. */
    private static final int READ_AT_ONCE = 1_024;

    private final long number;
    private final Schema schema;
    private final NeighborHashMap index;
    private final Values values;
    /** Null if all values are in memory; otherwise {@link #values} is empty. */
    private final @Nullable ColdValues cold;
    /** Bytes of replaced and removed rows. */
    private long replacedBytes;
    /** Bytes of the longest row put. */
    private int maxRowBytes;

    Version(long number, Schema schema, NeighborHashMap index, Values values, @Nullable ColdValues cold) {
        this.number = number;
        this.schema = schema;
        this.index = index;
        this.values = values;
        this.cold = cold;
    }

    /** An empty version for rows to be added to. */
    static Version empty(long number, Schema schema, long expected) {
        return new Version(number, schema, NeighborHashMap.builder(expected).build(), Values.empty(), null);
    }

    long number() {
        return number;
    }

    Schema schema() {
        return schema;
    }

    NeighborHashMap index() {
        return index;
    }

    Values values() {
        return values;
    }

    @Nullable
    ColdValues cold() {
        return cold;
    }

    int maxRowBytes() {
        return maxRowBytes;
    }

    /** Memory of the values, in bytes. */
    long valueBytes() {
        return cold == null ? values.bytes() : cold.memoryBytes();
    }

    long replacedBytes() {
        return replacedBytes;
    }

    /** Adds a row under a key that must be absent. */
    void add(long key, MemorySegment row) {
        if (index.get(key, NeighborHashMap.ABSENT) != NeighborHashMap.ABSENT) {
            throw new IllegalArgumentException("key " + key + " must be loaded once, got it twice");
        }
        put(key, row);
    }

    /** Adds or replaces a row. A failure changes nothing that readers can see. */
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
        maxRowBytes = Math.max(maxRowBytes, (int) row.byteSize());
        if (before != NeighborHashMap.ABSENT) {
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

    /** Adds the rows of the current version whose keys are wanted and absent here; returns how many. */
    long addOthersOf(Version current, LongPredicate wanted, Supplier<VersionedRows.Reader> readers) {
        if (!current.schema().equals(schema())) {
            throw new IllegalArgumentException("the schema of version " + number + " must be that of the current one, "
                    + current.schema() + ", is " + schema());
        }
        long before = index().size();
        if (current.cold() != null) {
            try (VersionedRows.Reader reader = readers.get()) {
                addRead(current, wanted, reader);
            }
        } else {
            current.index().forEach((key, place) -> {
                if (isAbsent(key) && wanted.test(key)) {
                    put(key, current.row(place));
                }
            });
        }
        return index().size() - before;
    }

    private boolean isAbsent(long key) {
        return index().get(key, NeighborHashMap.ABSENT) == NeighborHashMap.ABSENT;
    }

    /** Adds absent rows of a current version some of whose rows must be read from its file. */
    private void addRead(Version current, LongPredicate wanted, VersionedRows.Reader reader) {
        RowBatch rows = RowBatch.onHeap();
        long[] keys = new long[READ_AT_ONCE];
        int[] count = {0};
        current.index().forEach((key, place) -> {
            if (isAbsent(key) && wanted.test(key)) {
                keys[count[0]++] = key;
            }
            if (count[0] == keys.length) {
                add(reader, keys, rows);
                count[0] = 0;
            }
        });
        add(reader, Arrays.copyOf(keys, count[0]), rows);
    }

    private void add(VersionedRows.Reader reader, long[] keys, RowBatch rows) {
        reader.getAll(keys, rows);
        for (int i = 0; i < keys.length; i++) {
            put(keys[i], rows.rowBytes(i));
        }
    }

    boolean remove(long key) {
        if (cold != null) {
            return cold.remove(key);
        }
        long before = index.remove(key);
        if (before == NeighborHashMap.ABSENT) {
            return false;
        }
        replacedBytes += Values.taken(row(before).byteSize());
        return true;
    }

    /** The length of the row at a place. */
    int rowBytes(long place) {
        return values.chunks()[Values.chunk(place)].get(INT, Values.offset(place));
    }

    /** The row at a place. */
    MemorySegment row(long place) {
        MemorySegment chunk = values.chunks()[Values.chunk(place)];
        long at = Values.offset(place);
        return chunk.asSlice(at + Integer.BYTES, chunk.get(INT, at));
    }

    /** Copies columns of the rows at places into a batch; a row is absent if its place is. Reads all lengths first, so that cache misses overlap. */
    void copy(MemorySegment places, int n, Projection projection, RowBatch batch) {
        MemorySegment[] chunks = values.chunks();
        long sum = 0;
        for (int i = 0; i < n; i++) {
            long place = places.getAtIndex(JAVA_LONG, i);
            if (place != NeighborHashMap.ABSENT) {
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
            if (place != NeighborHashMap.ABSENT) {
                MemorySegment chunk = chunks[Values.chunk(place)];
                long at = Values.offset(place);
                end = projection.copy(chunk, at + Integer.BYTES, chunk.get(INT, at), out, end);
            }
            batch.setEnd(i, end - first, place != NeighborHashMap.ABSENT);
        }
    }

    @Override
    public void close() {
        // First, as eviction changes places in the index.
        if (cold != null) {
            cold.close();
        }
        index.close();
        values.close();
    }
}
