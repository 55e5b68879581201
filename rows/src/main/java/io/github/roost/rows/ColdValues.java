package io.github.roost.rows;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.SearchContext;
import io.github.roost.neighborhash.NeighborHashMap;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The values of a version that do not fit into memory: all in its file, with copies of frequently read rows in {@link HotRows}. A key's payload says
 * where to read its row. Rows put into the version later are in its {@link Spill}. Memory caches rows, not blocks: keys requested together are
 * scattered, so a cache of 4 KiB blocks would hold a quarter as many requested rows of 1 KB.
 *
 * <p>A cold row is promoted when it is read for the second time within a window ({@link Touches}), so that one scan of all rows does not evict
 * frequently read rows. While the ring has never been full, a row is promoted on its first read.
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
     * Fills a batch if all its rows are in memory; otherwise begins to read its cold rows. To be called in the read section in which the payloads
     * were looked up.
     *
     * @param context begins the reads, or null to leave them to {@link ColdFetch#readBlocking}
     * @return the fetch to continue with when these reads have ended, or null if the batch is filled
     */
    @Nullable
    ColdFetch fill(
            MemorySegment keys,
            MemorySegment payloads,
            int n,
            Projection projection,
            RowBatch rows,
            @Nullable SearchContext context) {
        // Loaded after the lookup of the keys, so each spilled row is in this tail or in a file.
        Spill spill = file.spill();
        Spill.Tail tail = spill == null ? null : spill.tail();
        long[] at = new long[n];
        int[] bytes = new int[n];
        int cold = 0;
        int tailed = 0;
        int absent = 0;
        for (int i = 0; i < n; i++) {
            long payload = payloads.getAtIndex(JAVA_LONG, i);
            if (payload == NeighborHashMap.ABSENT) {
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
     * Inserts or replaces a row. To be called by the table's writer.
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

    /** Removes a row; returns whether it was present. To be called by the table's writer. */
    boolean remove(long key) {
        return hot.remove(key);
    }

    /** Bytes of upserted rows in the spill file. */
    long spilledBytes() {
        Spill spill = file.spill();
        return spill == null ? 0 : spill.fileBytes();
    }

    void read(int count) {
        blocks.add(count);
    }

    /** Records the read of a cold row, and promotes the row if it was read recently. */
    void touched(long key, long payload, MemorySegment from, long at, int bytes) {
        boolean again = touches.again(Places.unit(payload));
        if ((again || hot.isFilling()) && hot.promote(key, payload, from, at, bytes)) {
            eviction.want();
        }
    }

    /** Statistics since the version was loaded. */
    VersionedRows.ColdStats stats(long version) {
        HotRows.Counts copies = hot.counts();
        return new VersionedRows.ColdStats(
                version,
                copies.rows(),
                hits.sum(),
                misses.sum(),
                blocks.sum(),
                copies.promoted(),
                copies.evicted(),
                copies.spared(),
                spilledBytes());
    }

    @Override
    public void close() {
        file.close();
        hot.close();
    }
}
