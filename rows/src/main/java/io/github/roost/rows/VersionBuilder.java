package io.github.roost.rows;

import io.github.roost.neighborhash.NeighborHashMap;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Builds a version of a {@link VersionedRows}. Its rows can be read only after it is sealed, and loaded or published. For one thread at a
 * time; {@link #close} frees its memory, and discards it if it is not sealed.
 */
public final class VersionBuilder implements AutoCloseable {
    private final VersionedRows table;
    private final Version version;
    private final Path file;
    private boolean isSealed;
    private boolean isClosed;

    VersionBuilder(VersionedRows table, Version version, Path file) {
        this.table = table;
        this.version = version;
        this.file = file;
    }

    /**
     * The number of this version.
     *
     * @return 1 or more
     */
    public long version() {
        return version.number();
    }

    /**
     * The memory that the version takes while it is built; {@link #close} frees it.
     *
     * @return bytes of its index and of the rows added so far
     * @throws IllegalStateException if this is closed
     */
    public long memoryBytes() {
        if (isClosed) {
            throw new IllegalStateException("the version is closed");
        }
        return version.index().memoryBytes() + version.valueBytes();
    }

    /**
     * A writer of rows for {@link #put(long, RowWriter)}.
     *
     * @return a writer, reusable for every row
     */
    public RowWriter writer() {
        return version.schema().writer();
    }

    /**
     * Adds a row.
     *
     * @param key any key that was not added yet
     * @param row the row as it is set now; copied
     * @throws IllegalArgumentException if the key was added already, or the row is too long; nothing has changed
     * @throws IllegalStateException if this is sealed, or this or the table is closed
     * @throws OutOfMemoryError if there is no memory for the row; nothing has changed
     */
    public void put(long key, RowWriter row) {
        put(key, row.row());
    }

    /**
     * Adds a row.
     *
     * @param key any key that was not added yet
     * @param row the row's bytes, in the layout of {@link Schema}; copied
     * @throws IllegalArgumentException if the key was added already, or these are not the bytes of a row; nothing has changed
     * @throws IllegalStateException if this is sealed, or this or the table is closed
     * @throws OutOfMemoryError if there is no memory for the row; nothing has changed
     */
    public void put(long key, MemorySegment row) {
        requireOpen();
        version.add(key, row);
    }

    Schema schema() {
        return version.schema();
    }

    /** The row that was added under a key, or null. */
    @Nullable
    MemorySegment added(long key) {
        requireOpen();
        long place = version.index().get(key, NeighborHashMap.ABSENT);
        return place == NeighborHashMap.ABSENT ? null : version.row(place);
    }

    /**
     * Adds the rows of the table's current version, including upserts, whose keys were not added yet. Upserts wait meanwhile.
     *
     * @return the number of rows added
     * @throws IllegalArgumentException if the current version has another schema
     * @throws IllegalStateException if this is sealed or closed, or there is no current version
     * @throws RowBatch.ColdReadException if a row cannot be read from the current version's file; some rows are added, and another call continues
     */
    public long putOthersOfCurrent() {
        return putOthersOfCurrent(key -> true);
    }

    /**
     * Adds the wanted rows of the table's current version, including upserts, whose keys were not added yet. Upserts wait meanwhile.
     *
     * @param wanted whether the row of a key is wanted
     * @return the number of rows added
     * @throws IllegalArgumentException as {@link #putOthersOfCurrent()}
     * @throws IllegalStateException as {@link #putOthersOfCurrent()}
     * @throws RowBatch.ColdReadException as {@link #putOthersOfCurrent()}
     */
    public long putOthersOfCurrent(LongPredicate wanted) {
        requireOpen();
        return table.addTo(version, wanted);
    }

    /**
     * Writes the version to its file, with checksums, and syncs it. From then on it is durable; {@link VersionedRows#load} or {@link
     * VersionedRows#publish} makes it readable.
     *
     * @throws IOException if it cannot be written, for example on a full disk; the call can be repeated
     * @throws IllegalStateException if this is sealed, or this or the table is closed
     */
    public void seal() throws IOException {
        requireOpen();
        VersionFile.write(file, version);
        isSealed = true;
    }

    private void requireOpen() {
        table.requireOpen();
        if (isClosed) {
            throw new IllegalStateException("the version is closed");
        }
        if (isSealed) {
            throw new IllegalStateException("version " + version.number() + " is sealed");
        }
    }

    /** Frees the memory, and discards the version if it is not sealed. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            version.close();
            table.ended(version.number());
        }
    }
}
