package io.github.roost.rows.service;

import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.TextKeys;
import java.io.IOException;
import java.nio.file.Path;
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

    /**
     * A file with the rows of a version's requested shards, which was built once and is copied by each server that has them: the file
     * {@code version-N.roost} of a version that was {@linkplain io.github.roost.rows.VersionBuilder#seal sealed} under the same number. A server asks
     * only if the version has a {@link #snapshot}, and checks the file's checksums, but not its keys.
     *
     * @param version the version's number
     * @param shards the requested shards
     * @return the file, which must not change while it is copied; null if there is none
     * @throws IOException if it cannot be had; then the version is not loaded
     */
    default @Nullable Path sealedFile(long version, Served shards) throws IOException {
        return null;
    }

    /**
     * Puts what differs between two versions, so that a server that has the earlier one need not load all rows of the later one. A server asks only if
     * both versions have a {@link #snapshot}, and it has the requested shards of the earlier one's.
     *
     * @param from the number of the earlier version
     * @param version the number of the later version, of the same schema
     * @param shards the requested shards of the later version
     * @param to receives the rows that are new or differ, and the keys that are gone; other shards' are ignored. Where a key is both put and removed, the
     *     row that was put counts
     * @return whether the difference is known; if not, nothing may have been put, and the server calls {@link #load}
     * @throws IOException if the difference cannot be read; then the version is not loaded
     */
    default boolean loadChanges(long from, long version, Served shards, Changes to) throws IOException {
        return false;
    }

    /** Receives what differs between two versions. */
    interface Changes extends Sink {
        /**
         * Removes a row of the earlier version, if it has one.
         *
         * @param key its key
         */
        void remove(long key);

        /**
         * Removes the row of a text of the earlier version, if it has one.
         *
         * @param keys the kind of key
         * @param text the text
         * @throws IllegalArgumentException if the row under its key is of another text
         */
        void remove(TextKeys keys, String text);
    }

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
