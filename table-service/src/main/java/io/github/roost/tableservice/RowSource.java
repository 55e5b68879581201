package io.github.roost.tableservice;

import io.github.roost.table.RowWriter;
import io.github.roost.table.Schema;
import java.io.IOException;

/**
 * Where a server gets the rows of a version from: files, a database, a log. A table's node calls its source from one thread at a
 * time; a source that several nodes share must be thread-safe.
 */
public interface RowSource {
    /**
     * The columns of a version.
     *
     * @param version its number
     * @return its schema
     * @throws IOException if it cannot be read
     */
    Schema schema(long version) throws IOException;

    /**
     * Puts the rows of a version that belong to the requested shards; may put the others too.
     *
     * @param version its number
     * @param shards which shards are requested; rows of others are ignored
     * @param to takes the rows
     * @throws IOException if they cannot be read; the version is not loaded then
     */
    void load(long version, Served shards, Sink to) throws IOException;

    /** Takes rows. */
    interface Sink {
        /**
         * A writer of rows of the version.
         *
         * @return to be used again for every row
         */
        RowWriter writer();

        /**
         * Puts a row, or ignores it if its shard was not requested.
         *
         * @param key any
         * @param row as it is set now; copied
         * @throws IllegalArgumentException if the key was put already
         */
        void put(long key, RowWriter row);
    }
}
