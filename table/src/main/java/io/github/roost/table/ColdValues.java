package io.github.roost.table;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.task.SearchContext;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The values of a version that do not fit into memory: all in its file, and copies of those that are read often in {@link HotRows}. A key's payload
 * says where to read its row. Rows that are put into the version later are in its {@link Spill}, as others are in the file. Rows are kept in memory by themselves, not by the block: blocks of 4 KiB of which one row is wanted would hold
 * a quarter as many rows of 1 KB, as keys that are asked for together lie anywhere.
 *
 * <p>A cold row is promoted when it is read for the second time within a window ({@link Touches}), so that to read all rows once does not drive out those
 * that are read time and again; at first, while there is room, when it is read.
 */
final class ColdValues implements AutoCloseable {
    private final ColdFile file;
    private final HotRows hot;
    private final Touches touches;
    private final Eviction eviction;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder blocks = new LongAdder();

    ColdValues(ColdFile file, HotRows hot, Touches touches, Eviction eviction) {
        this.file = file;
        this.hot = hot;
        this.touches = touches;
        this.eviction = eviction;
    }

    ColdFile file() {
        return file;
    }

    HotRows hot() {
        return hot;
    }

    long memoryBytes() {
        Spill spill = file.spill();
        return hot.memory().byteSize() + touches.bytes() + (spill == null ? 0 : spill.memoryBytes());
    }

    /**
     * Fills a batch with rows that are all in memory; or begins to read those that are not. By who is inside, and was from before the payloads were looked
     * up.
     *
     * @param context begins the reads, or null: then they are left to {@link ColdFetch#readBlocking}
     * @return what is to be gone on with when these reads have ended, or null if the batch is filled
     */
    @Nullable
    ColdFetch fill(
            MemorySegment keys,
            MemorySegment payloads,
            int n,
            Projection projection,
            RowBatch rows,
            @Nullable SearchContext context) {
        // After the keys were looked up: so it has, or is later than, what they lead to.
        Spill spill = file.spill();
        Spill.Tail tail = spill == null ? null : spill.tail();
        long[] at = new long[n];
        int[] bytes = new int[n];
        int cold = 0;
        int tailed = 0;
        int absent = 0;
        for (int i = 0; i < n; i++) {
            long payload = payloads.getAtIndex(JAVA_LONG, i);
            if (payload == LongTable.ABSENT) {
                at[i] = -1;
                absent++;
            } else if (Places.isCold(payload)) {
                if (file.inTail(tail, payload) >= 0) {
                    tailed++;
                } else {
                    cold++;
                }
            } else {
                at[i] = hot.read(payload);
                bytes[i] = hot.bytes(at[i]);
            }
        }
        hits.add(n - cold - absent);
        if (cold + tailed == 0) {
            rows.fill(projection, file.version(), hot.memory(), at, bytes);
            return null;
        }
        misses.add(cold);
        ColdFetch fetch = new ColdFetch(this, projection, rows, keys, payloads, at, bytes, tail);
        try {
            if (context != null && fetch.hasMore()) {
                fetch.begin(context);
            }
            fetch.keepHot();
            return fetch;
        } catch (Throwable failed) {
            fetch.close();
            throw failed;
        }
    }

    /**
     * Puts a row, or replaces the one that is there. By the one who changes the table.
     *
     * @throws IllegalArgumentException if memory has no room for twice the row; nothing has changed
     * @throws IOException if rows that do not fit into memory cannot be written; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    void put(long key, MemorySegment row) throws IOException {
        Spill spill = file.spill();
        if (spill == null) {
            throw new IllegalStateException("rows are put into a table that takes upserts");
        }
        hot.requireRoom(row.byteSize());
        if (hot.put(key, Places.cold(spill.append(row)), row)) {
            eviction.want();
        }
    }

    /** Takes a row out; whether it was there. By the one who changes the table. */
    boolean remove(long key) {
        return hot.remove(key);
    }

    /** Bytes of rows that were put, in a file beside the version's. */
    long spilledBytes() {
        Spill spill = file.spill();
        return spill == null ? 0 : spill.fileBytes();
    }

    void read(int count) {
        blocks.add(count);
    }

    /** A cold row was read. */
    void touched(long key, long payload, MemorySegment from, long at, int bytes) {
        boolean again = touches.again(Places.unit(payload));
        if ((again || hot.isFilling()) && hot.promote(key, payload, from, at, bytes)) {
            eviction.want();
        }
    }

    /**
     * Counts.
     *
     * @param hits rows that were read from memory
     * @param misses rows that were read from the file
     * @param blocks that were read for these
     */
    record Counts(long hits, long misses, long blocks) {}

    Counts counts() {
        return new Counts(hits.sum(), misses.sum(), blocks.sum());
    }

    @Override
    public void close() {
        file.close();
        hot.close();
    }
}
