package io.github.roost.tableservice;

import io.github.roost.table.RowBatch;

/** The rows of a batch of keys, all of one version. The receiver owns it. Not thread-safe. */
public final class FetchedRows {
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
     */
    public long version() {
        return version;
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
