package io.github.roost.rows.service;

import io.github.roost.rows.RowBatch;
import io.github.roost.rows.TextKeys;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The rows of a batch of keys, all of one version unless rows of any version were requested. The receiver owns it. Not thread-safe.
 */
public final class FetchedRows {
    /** 0 if rows of any version were requested. */
    private final long version;

    private final RowBatch[] batches;
    private final int[] rows;

    FetchedRows(long version, RowBatch[] batches, int[] rows) {
        this.version = version;
        this.batches = batches;
        this.rows = rows;
    }

    /**
     * The version of all rows.
     *
     * @return the version
     * @throws IllegalStateException if rows of any version were requested, even if all are of one version; {@link #version(int)} returns the version
     *     of each
     */
    public long version() {
        if (version == 0) {
            throw new IllegalStateException("a batch of any version has a version per row, none of all rows");
        }
        return version;
    }

    /**
     * The version of a key's row; if the key has no row, the version that has none.
     *
     * @param i the index of the key, from 0
     * @return the version
     */
    public long version(int i) {
        return batches[i].version();
    }

    /** Makes absent the rows whose texts differ from the requested texts, one per key. */
    void retain(TextKeys by, List<String> texts) {
        IdentityHashMap<RowBatch, String[]> byBatch = new IdentityHashMap<>();
        for (int i = 0; i < rows.length; i++) {
            byBatch.computeIfAbsent(batches[i], batch -> new String[batch.size()])[rows[i]] = texts.get(i);
        }
        byBatch.forEach((batch, textsOf) -> by.retain(List.of(textsOf), batch));
    }

    /**
     * The number of keys.
     *
     * @return 0 or more
     */
    public int size() {
        return rows.length;
    }

    /**
     * Whether a key has a row.
     *
     * @param i the index of the key, from 0
     * @return whether it has a row
     */
    public boolean isPresent(int i) {
        return batches[i].isPresent(rows[i]);
    }

    /**
     * The rows of a key's shard, which include the key's row.
     *
     * @param i the index of the key, from 0
     * @return a batch whose row {@link #row}{@code (i)} belongs to the key
     */
    public RowBatch batch(int i) {
        return batches[i];
    }

    /**
     * The index of a key's row in {@link #batch}.
     *
     * @param i the index of the key, from 0
     * @return the index of its row
     */
    public int row(int i) {
        return rows[i];
    }
}
