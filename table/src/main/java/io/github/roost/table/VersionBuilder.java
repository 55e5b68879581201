package io.github.roost.table;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A version of a {@link Table} that is being loaded. Nobody reads it before it has been sealed and published. For one thread at a
 * time; {@link #close} gives its memory back, and drops what is not sealed.
 */
public final class VersionBuilder implements AutoCloseable {
    private final Table table;
    private final Version version;
    private final Path file;
    private boolean isSealed;
    private boolean isClosed;

    VersionBuilder(Table table, Version version, Path file) {
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
     * A writer of rows for {@link #put(long, RowWriter)}.
     *
     * @return to be used again for every row
     */
    public RowWriter writer() {
        return version.schema().writer();
    }

    /**
     * Adds a row.
     *
     * @param key any
     * @param row as it is set now; copied
     * @throws IllegalArgumentException if the key is there already, or the row too long; nothing has changed
     * @throws IllegalStateException if this is sealed, or it or the table closed
     * @throws OutOfMemoryError if there is no memory for the row; nothing has changed
     */
    public void put(long key, RowWriter row) {
        put(key, row.row());
    }

    /**
     * Adds a row.
     *
     * @param key any
     * @param row its bytes, as {@link Schema} lays them out; copied
     * @throws IllegalArgumentException if the key is there already, or these are not the bytes of a row; nothing has changed
     * @throws IllegalStateException if this is sealed, or it or the table closed
     * @throws OutOfMemoryError if there is no memory for the row; nothing has changed
     */
    public void put(long key, MemorySegment row) {
        requireOpen();
        version.add(key, row);
    }

    /**
     * Adds the rows of the table's current version whose keys are not here yet, upserts among them. Upserts wait meanwhile.
     *
     * @return how many
     * @throws IllegalArgumentException if the current version has another schema
     * @throws IllegalStateException if this is sealed or closed, or there is no current version
     * @throws ColdReadException if a row cannot be read from the current version's file; some are added, and others when it is called again
     */
    public long putOthersOfCurrent() {
        requireOpen();
        return table.addTo(version);
    }

    /**
     * Writes the version to its file, with checksums, synced. From then on it survives whatever happens to the process;
     * {@link Table#publish} has it read.
     *
     * @throws IOException if it cannot be written, say for lack of room; it may be sealed again
     * @throws IllegalStateException if this is sealed, or it or the table closed
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

    /** Gives the memory back. What is not sealed is dropped. Again without effect. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            version.close();
            table.ended(version.number());
        }
    }
}
