package io.github.roost.rows.service;

import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

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
     * The state that a version's rows are of, for example the id of a snapshot, or the checksum of a file. Sources that return the same snapshot of a
     * version must put the same rows: servers then load their own shards only. Without one, each server reads the rows of all shards, to know whether
     * it has the same version as the others.
     *
     * @param version the version's number
     * @return the snapshot, or null if the rows may differ from load to load
     * @throws IOException if it cannot be read
     */
    default @Nullable String snapshot(long version) throws IOException {
        return null;
    }

    /**
     * Puts the rows of the requested shards of a version. Rows of other shards may be put, too.
     *
     * @param version the version's number
     * @param shards the requested shards; all of the version if there is no {@link #snapshot}
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
         * Puts a row. It is kept if its shard is to be at the server.
         *
         * @param key any key
         * @param row the row as it is set now; copied
         * @throws IllegalArgumentException if the key was put already
         */
        void put(long key, RowWriter row);

        /**
         * Puts a row under a text. It is kept if its shard is to be at the server.
         *
         * @param keys the kind of key
         * @param text the text; set as the row's column of texts
         * @param row the row as it is set now, except for that column; copied
         * @throws IllegalArgumentException as {@link TextKeys#put}
         */
        void put(TextKeys keys, String text, RowWriter row);
    }
}
