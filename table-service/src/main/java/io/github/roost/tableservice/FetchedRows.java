package io.github.roost.tableservice;

import io.github.roost.table.RowBatch;

/** The rows of a batch of keys, all of one version. The receiver owns it; not to be changed by several threads. */
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
     * The version that all rows are of.
     *
     * @return the version
     */
    public long version() {
        return version;
    }

    /**
     * How many keys were asked for.
     *
     * @return 0 or more
     */
    public int size() {
        return rows.length;
    }

    /**
     * Whether a key is there.
     *
     * @param i which of the keys, from 0
     * @return whether it has a row
     */
    public boolean isPresent(int i) {
        return batches[i].isPresent(rows[i]);
    }

    /**
     * The rows among which that of a key is: those of its shard.
     *
     * @param i which of the keys, from 0
     * @return where row {@link #row}{@code (i)} is that of the key
     */
    public RowBatch batch(int i) {
        return batches[i];
    }

    /**
     * Which row of {@link #batch} is that of a key.
     *
     * @param i which of the keys, from 0
     * @return its row
     */
    public int row(int i) {
        return rows[i];
    }
}
