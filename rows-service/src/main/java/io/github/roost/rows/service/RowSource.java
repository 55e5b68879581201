package io.github.roost.rows.service;

import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import java.io.IOException;

/**
 * The source from which a server loads the rows of a version, for example files, a database or a log. A table's node calls its
 * source from one thread at a time; a source shared by several nodes must be thread-safe.
 */
public interface RowSource {
    /**
     * The columns of a version.
     *
     * @param version its number
     * @return its schema
     * @throws IOException if the schema cannot be read
     */
    Schema schema(long version) throws IOException;

    /**
     * Puts the rows of the requested shards of a version. Rows of other shards may be put, too; they are ignored.
     *
     * @param version the version's number
     * @param shards the requested shards
     * @param to receives the rows
     * @throws IOException if the rows cannot be read; then the version is not loaded
     */
    void load(long version, Served shards, Sink to) throws IOException;

    /** Receives rows. */
    interface Sink {
        /**
         * A writer of rows of the version.
         *
         * @return a writer, reusable for every row
         */
        RowWriter writer();

        /**
         * Puts a row, or ignores it if its shard was not requested.
         *
         * @param key any key
         * @param row the row as it is set now; copied
         * @throws IllegalArgumentException if the key was put already
         */
        void put(long key, RowWriter row);

        /**
         * Puts a row under a text, or ignores it if its shard was not requested.
         *
         * @param keys the kind of key
         * @param text the text; set as the row's column of texts
         * @param row the row as it is set now, except for that column; copied
         * @throws IllegalArgumentException as {@link TextKeys#put}
         */
        void put(TextKeys keys, String text, RowWriter row);
    }
}
