package io.github.roost.rows;

import io.github.roost.core.SearchContext;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.Readers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Reads of a {@link VersionedRows} in read sections: while one is open, the memory of the live versions is not freed. For one thread at a
 * time; concurrent with all changes of the table, without waiting for them.
 */
final class RowReads implements AutoCloseable {
    private static final int FIRST_KEYS = 128;

    private final VersionedRows table;
    private final AtomicLongArray cell;
    private boolean isClosed;

    /** Memory for keys passed as an array, and for places. */
    private MemorySegment scratch = scratch(FIRST_KEYS);
    /** The version of the last call; it and the projection are reused while calls ask for the same version and columns. */
    private @Nullable Version version;

    private List<String> columns = List.of();
    private @Nullable Projection projection;
    /** A reader of the version's index, if the table takes upserts. */
    private NeighborHashMap.@Nullable Reader index;

    /** @param cell what {@link Readers#join} returned for this thread */
    RowReads(VersionedRows table, AtomicLongArray cell) {
        this.table = table;
        this.cell = cell;
    }

    private static MemorySegment scratch(int keys) {
        return Arena.ofAuto().allocate(2L * keys * Long.BYTES, Long.BYTES);
    }

    private void reserve(int keys) {
        if (2L * keys * Long.BYTES > scratch.byteSize()) {
            scratch = scratch(Math.max(keys, (int) Math.min(1 << 28, 2L * keys)));
        }
    }

    /** As {@link #begin(long, MemorySegment, int, RowBatch, List, SearchContext)}, for all keys of an array. */
    @Nullable
    ColdFetch begin(long of, long[] keys, RowBatch rows, List<String> wanted, @Nullable SearchContext context) {
        reserve(keys.length);
        MemorySegment.copy(keys, 0, scratch, ValueLayout.JAVA_LONG, 0, keys.length);
        return begin(of, scratch.asSlice(0, scratch.byteSize() / 2), keys.length, rows, wanted, context);
    }

    /**
     * Fills the batch and returns null, or begins to read its cold rows. Afterwards this can serve another call.
     *
     * @param of the version, or 0 for the current one
     * @param context of the search that reads, or null outside searches
     */
    @Nullable
    ColdFetch begin(
            long of, MemorySegment keys, int n, RowBatch rows, List<String> wanted, @Nullable SearchContext context) {
        if (isClosed) {
            throw new IllegalStateException("the reader is closed");
        }
        reserve(n);
        Readers.enter(cell);
        try {
            Version from = table.requireLive(of);
            Projection columnsOf = prepare(from, wanted);
            MemorySegment places = scratch.asSlice(scratch.byteSize() / 2, (long) n * Long.BYTES);
            ColdValues cold = from.cold();
            if (index != null) {
                index.getAll(keys, n, places);
            } else if (cold != null) {
                from.index().getAllBesideReplacing(keys, n, places);
            } else {
                from.index().getAll(keys, n, places);
            }
            if (cold != null) {
                return cold.fill(keys, places, n, columnsOf, rows, context);
            }
            from.copy(places, n, columnsOf, rows);
            return null;
        } finally {
            Readers.exit(cell);
        }
    }

    private Projection prepare(Version from, List<String> wanted) {
        Projection made = projection;
        if (from == version && made != null && wanted.equals(columns)) {
            return made;
        }
        Projection other = Projection.of(from.schema(), wanted);
        if (from != version && table.takesUpserts()) {
            closeIndex();
            index = from.index().reader();
        }
        version = from;
        columns = List.copyOf(wanted);
        projection = other;
        return other;
    }

    private void closeIndex() {
        if (index != null) {
            index.close();
            index = null;
        }
    }

    /** Must not be called during a call; idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            closeIndex();
            table.readers().leave(cell);
        }
    }
}
