package io.github.roost.rows;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.spi.Search;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.Readers;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A table of rows by long keys, in versions. A version is loaded, sealed into a file of the table's folder, published, and then immutable. At most
 * two versions are live: the current version, and the previous or the next one. All rows that one call of a {@link Reader} returns are of one
 * version.
 *
 * <pre>{@code
 * begin(2, schema)  ->  put ...  ->  seal()  ->  load(2)  ->  publish(2)
 *                                  survives      live         current
 * }</pre>
 *
 * <p>A table opened with {@link Updates#UPSERTS} also accepts changes of its current version. Each change is visible at once and
 * separately, so one call may see some changes and not others. Changes are not durable: {@link VersionBuilder#putOthersOfCurrent}
 * copies them into the next version.
 *
 * <p>Thread-safe. Methods that publish, load, unload or delete versions wait for each other. Upserts, statistics and {@link #begin} do not wait
 * while they read a file, only while the live versions are exchanged. Readers wait for none of them.
 * After {@link #close} all methods throw an {@link IllegalStateException}.
 *
 * <p>The memory of a version is freed after a grace period, as in {@link NeighborHashMap}: the live versions are replaced, then all read
 * sections that were open end, then the memory is freed. Later read sections see the new versions.
 */
public final class VersionedRows implements AutoCloseable {
    /** Which changes the current version accepts. */
    public enum Updates {
        /** None: the next version replaces it. */
        VERSIONS,
        /** Rows are put and removed one by one. */
        UPSERTS
    }

    /** The maximum version number: 10^18 - 1. */
    public static final long MAX_VERSION = 999_999_999_999_999_999L;

    private static final long MAX_EXPECTED = 1L << 38;

    /** The versions that can be read; null for none. */
    private record Live(@Nullable Version current, @Nullable Version other) {
        @Nullable
        Version find(long number) {
            if (current != null && current.number() == number) {
                return current;
            }
            return other != null && other.number() == number ? other : null;
        }
    }

    private final RowsFolder folder;
    private final Updates updates;
    private final Readers readers = new Readers();
    /** A pool of reads for searches; it holds as many as have ever been in use at once. */
    private final Queue<RowReads> idle = new ConcurrentLinkedQueue<>();
    /** Null if all values are in memory. */
    private final @Nullable ValueMemory valueMemory;
    /** The versions that builders are open for. Guarded by this. */
    private final Set<Long> begun = new HashSet<>();
    /** Held while a version is read, made live, unloaded or deleted; taken before the lock of this, which is free while a file is read. */
    private final Object loading = new Object();
    /** Null if the table is closed. Written with {@link #loading} and the lock of this. */
    private volatile @Nullable Live live = new Live(null, null);

    private VersionedRows(RowsFolder folder, Builder builder) {
        this.folder = folder;
        this.updates = builder.updates;
        this.valueMemory = builder.memory(readers);
    }

    /**
     * Opens a table whose versions do not change, and loads the version published last.
     *
     * @param folder the table's folder; created if it does not exist
     * @return the table; the caller closes it
     * @throws IOException as {@link Builder#open}
     */
    public static VersionedRows open(Path folder) throws IOException {
        return builder(folder).open();
    }

    /**
     * Creates a builder of a table.
     *
     * @param folder the table's folder; created if it does not exist
     * @return a builder with every option at its default
     */
    public static Builder builder(Path folder) {
        return new Builder(folder);
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private final Path folder;
        private Updates updates = Updates.VERSIONS;
        private long valueBytes;
        private @Nullable Orchestrator orchestrator;
        private @Nullable BlockIo io;

        private Builder(Path folder) {
            this.folder = Objects.requireNonNull(folder, "folder must not be null");
        }

        /**
         * Sets which changes the current version accepts.
         *
         * @param value default {@link Updates#VERSIONS}
         * @return this builder
         */
        public Builder updates(Updates value) {
            this.updates = Objects.requireNonNull(value, "updates must not be null");
            return this;
        }

        /**
         * Sets the maximum memory for the values of each live version. If a version's values take more, they stay in its file, and memory holds
         * copies of frequently read rows; all keys are in memory. Other rows are read from the file on request: {@link #fetch} and {@link Attributes}
         * park meanwhile, a {@link Reader} blocks. By default all values are in memory.
         *
         * <p>A version is still built in memory, and verified as a whole when it is loaded. A table that takes {@linkplain Updates#UPSERTS upserts}
         * keeps all values in files, whatever their size. Upserted rows go to a second file in the table's folder, in writes of 64 KiB; rows not
         * written yet take up to 64 KiB more memory, or the size of one row if it is longer. This file grows with every upsert; it is deleted when
         * the version is closed, or by {@link VersionedRows#open} after the process was killed.
         *
         * @param bytes up to 1.6 % of it is used to track recently read rows; the rest must be at least 2 * (n + 24) bytes for a longest row of n
         *     bytes. Loading a version with a longer row throws an {@link IllegalArgumentException}
         * @param runs the orchestrator that evicts rows as maintenance; only its searches may use {@link #fetch}, but any thread may use a
         *     {@link Reader}
         * @param reads block I/O of that orchestrator; to be closed after the table
         * @return this builder
         * @throws IllegalArgumentException if {@code bytes} is less than 1
         */
        public Builder valueMemory(long bytes, Orchestrator runs, BlockIo reads) {
            Vectors.requireRange("valueMemory", bytes, 1, Long.MAX_VALUE);
            this.valueBytes = bytes;
            this.orchestrator = Objects.requireNonNull(runs, "orchestrator must not be null");
            this.io = Objects.requireNonNull(reads, "block I/O must not be null");
            return this;
        }

        private @Nullable ValueMemory memory(Readers readers) {
            return orchestrator == null || io == null
                    ? null
                    : new ValueMemory(
                            valueBytes,
                            orchestrator,
                            io,
                            orchestrator.register("rows of " + folder),
                            readers,
                            updates == Updates.UPSERTS);
        }

        /**
         * Opens the table, and loads the version published last.
         *
         * @return the table; the caller closes it
         * @throws IllegalArgumentException if the memory for values has no room for twice that version's longest row
         * @throws FileFormatException if the version's file, or the file that names the current version, is damaged, truncated, not of a table, or of
         *     a newer format
         * @throws IOException if the folder cannot be read or written, or a table is open there
         */
        public VersionedRows open() throws IOException {
            RowsFolder locked = RowsFolder.open(folder);
            VersionedRows table = null;
            boolean done = false;
            try {
                table = new VersionedRows(locked, this);
                long current = locked.current();
                if (current != 0) {
                    table.publish(current);
                }
                done = true;
                return table;
            } finally {
                if (!done) {
                    if (table == null) {
                        locked.close();
                    } else {
                        table.close();
                    }
                }
            }
        }
    }

    void requireOpen() {
        live();
    }

    private Live live() {
        Live now = live;
        if (now == null) {
            throw new IllegalStateException("the table is closed");
        }
        return now;
    }

    /** {@return the number of the current version, which reads that pass no version read; 0 if none was published} */
    public long current() {
        Version current = live().current;
        return current == null ? 0 : current.number();
    }

    /**
     * The columns of the current version.
     *
     * @return its schema
     * @throws IllegalStateException if none was published
     */
    public Schema schema() {
        return requireCurrent().schema();
    }

    /** {@return the numbers of the versions that can be read: at most two, the current one first} */
    public List<Long> liveVersions() {
        Live now = live();
        return Stream.of(now.current, now.other)
                .filter(Objects::nonNull)
                .map(Version::number)
                .toList();
    }

    /**
     * The versions sealed in the folder.
     *
     * @return version numbers in ascending order
     * @throws IOException if the folder cannot be read
     */
    public List<Long> sealedVersions() throws IOException {
        live();
        return folder.sealed();
    }

    /**
     * Begins a version.
     *
     * @param version its number, from 1 to {@link #MAX_VERSION}; not the number of a version that is sealed or begun
     * @param schema the schema of its rows
     * @return a builder to add rows to, seal and close
     * @throws IllegalArgumentException if the number is out of range or taken
     * @throws IOException if the folder cannot be read
     */
    public VersionBuilder begin(long version, Schema schema) throws IOException {
        return begin(version, schema, 0);
    }

    /**
     * Begins a version with an expected number of rows, so that its index need not grow.
     *
     * @param version its number, from 1 to {@link #MAX_VERSION}; not the number of a version that is sealed or begun
     * @param schema the schema of its rows
     * @param expectedRows from 0 to 2^38; more rows are allowed
     * @return a builder to add rows to, seal and close
     * @throws IllegalArgumentException if the number is out of range or taken, or {@code expectedRows} out of range
     * @throws IOException if the folder cannot be read
     */
    public synchronized VersionBuilder begin(long version, Schema schema, long expectedRows) throws IOException {
        requireNew(version);
        Vectors.requireRange("expectedRows", expectedRows, 0, MAX_EXPECTED);
        Version empty = Version.empty(version, schema, expectedRows);
        begun.add(version);
        return new VersionBuilder(this, empty, folder.file(version));
    }

    /**
     * Copies the file of a version that was sealed in another folder, perhaps on another machine. From then on it is durable; {@link #load} or {@link
     * #publish} checks it and makes it readable.
     *
     * @param version its number there; not the number of a version that is sealed or begun here
     * @param sealed its file, {@code version-N.roost}; must not change meanwhile
     * @throws IllegalArgumentException if the number is out of range or taken
     * @throws IOException if the file cannot be read or written; nothing has changed
     */
    public void copySealed(long version, Path sealed) throws IOException {
        synchronized (this) {
            requireNew(version);
            begun.add(version);
        }
        try (FileChannel from = FileChannel.open(sealed, StandardOpenOption.READ)) {
            WholeFile.replace(folder.file(version), to -> {
                long size = from.size();
                for (long at = 0; at < size; ) {
                    long copied = from.transferTo(at, size - at, to);
                    if (copied <= 0) {
                        throw new IOException(sealed + " must not change while it is copied");
                    }
                    at += copied;
                }
            });
        } finally {
            ended(version);
        }
    }

    private void requireNew(long version) throws IOException {
        live();
        requireVersion(version);
        if (begun.contains(version) || folder.sealed().contains(version)) {
            throw new IllegalArgumentException("version must be new, got " + version + ", which is there already");
        }
    }

    private static void requireVersion(long version) {
        Vectors.requireRange("version", version, 1, MAX_VERSION);
    }

    synchronized void ended(long version) {
        begun.remove(version);
    }

    /** Adds the current version's rows whose keys are absent in the target; returns how many. */
    synchronized long addTo(Version target, LongPredicate wanted) {
        return target.addOthersOf(requireCurrent(), wanted, this::reader);
    }

    /**
     * Loads a sealed version as the second live version, for reads that pass its number. It replaces the second live version, if
     * there is one. No effect if the version is live.
     *
     * @param version the number of a sealed version
     * @throws FileFormatException if its file is damaged, truncated, not of a table, or of a newer format; nothing has changed
     * @throws IOException if it cannot be read; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public void load(long version) throws IOException {
        synchronized (loading) {
            Live now = live();
            requireVersion(version);
            if (now.find(version) == null) {
                replace(new Live(now.current, read(version)));
            }
        }
    }

    private Version read(long version) throws IOException {
        return VersionFile.read(folder.file(version), version, valueMemory);
    }

    /**
     * Makes a version current, and loads it if it is not live. The previous current version stays live as the second one and replaces any other. Of
     * the versions older than the published one, the newest file is kept and the rest are deleted.
     *
     * @param version the number of a sealed version
     * @throws FileFormatException if its file is damaged, truncated, not of a table, or of a newer format; nothing has changed
     * @throws IOException if it cannot be read, or the current version's name cannot be written; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public void publish(long version) throws IOException {
        synchronized (loading) {
            Live now = live();
            requireVersion(version);
            Version found = now.find(version);
            if (found != null && found == now.current) {
                return;
            }
            Version next = found == null ? read(version) : found;
            boolean done = false;
            try {
                // Before readers see it, so that a restart does not go back to an older version than was read.
                folder.setCurrent(version);
                done = true;
            } finally {
                if (!done && next != found) {
                    next.close();
                }
            }
            replace(new Live(next, now.current));
            folder.deleteOlder(version);
        }
    }

    /**
     * Unloads the second live version and frees its memory. Its file stays. No effect if the version is not live.
     *
     * @param version any version but the current one
     * @throws IllegalArgumentException if it is the current one
     */
    public void unload(long version) {
        synchronized (loading) {
            Live now = live();
            Version found = now.find(version);
            if (found != null && found == now.current) {
                throw new IllegalArgumentException("version must not be the current one, got " + version);
            }
            if (found != null) {
                replace(new Live(now.current, null));
            }
        }
    }

    /**
     * Deletes the file of a version that is not live. No effect if there is none.
     *
     * @param version a version that is not live
     * @throws IllegalArgumentException if it is live
     * @throws IOException if it cannot be deleted
     */
    public void delete(long version) throws IOException {
        synchronized (loading) {
            if (live().find(version) != null) {
                throw new IllegalArgumentException("version must not be live, got " + version);
            }
            folder.delete(version);
        }
    }

    /** Replaces the live versions, waits for a grace period, and closes versions that are not live afterwards. */
    private synchronized void replace(@Nullable Live next) {
        Live before = live;
        live = next;
        readers.awaitThoseInside();
        if (before != null) {
            closeUnlessIn(next, before.current);
            closeUnlessIn(next, before.other);
        }
    }

    private static void closeUnlessIn(@Nullable Live next, @Nullable Version version) {
        if (version != null && (next == null || next.find(version.number()) != version)) {
            version.close();
        }
    }

    /**
     * Inserts a row into the current version, or replaces the row of the key.
     *
     * @param key any key
     * @param row the row as it is set now; copied
     * @throws IllegalArgumentException as {@link #upsert(long, MemorySegment)}, which names the other errors
     */
    public synchronized void upsert(long key, RowWriter row) {
        upsert(key, row.row());
    }

    /**
     * Inserts a row into the current version, or replaces the row of the key.
     *
     * @param key any key
     * @param row the row's bytes, in the layout of {@link Schema}; copied
     * @throws IllegalArgumentException if these are not the bytes of a row; nothing has changed
     * @throws UnsupportedOperationException if the table was not opened with {@link Updates#UPSERTS}
     * @throws IllegalStateException if no version was published
     * @throws UncheckedIOException if the memory for values is limited, and rows cannot be written to the file, for example on a full disk; nothing
     *     has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public synchronized void upsert(long key, MemorySegment row) {
        requireUpserts().put(key, row);
    }

    /**
     * Removes a row from the current version.
     *
     * @param key any key
     * @return whether it was present
     * @throws UnsupportedOperationException if the table was not opened with {@link Updates#UPSERTS}
     * @throws IllegalStateException if no version was published
     */
    public synchronized boolean remove(long key) {
        return requireUpserts().remove(key);
    }

    private Version requireUpserts() {
        if (!takesUpserts()) {
            throw new UnsupportedOperationException("the table was opened for versions that do not change");
        }
        return requireCurrent();
    }

    boolean takesUpserts() {
        return updates == Updates.UPSERTS;
    }

    /** The live version of a number, or the current one for 0; throws if there is none. */
    Version requireLive(long version) {
        Version found = version == 0 ? requireCurrent() : live().find(version);
        if (found == null) {
            throw new VersionGoneException("version must be one of " + liveVersions() + ", got " + version);
        }
        return found;
    }

    private Version requireCurrent() {
        Version current = live().current;
        if (current == null) {
            throw new IllegalStateException("no version was published");
        }
        return current;
    }

    /**
     * Size statistics of the current version.
     *
     * @param version its number; 0 if none was published
     * @param rows the number of rows
     * @param indexBytes memory of the index
     * @param valueBytes memory of the rows, in use; with limited memory for values, all memory allocated for them
     * @param replacedBytes the part of {@code valueBytes} taken by replaced and removed rows; 0 with limited memory for values
     */
    public record Stats(long version, long rows, long indexBytes, long valueBytes, long replacedBytes) {}

    /**
     * The memory that a version takes. Does not block.
     *
     * @param version any version number
     * @return bytes of its index and its rows, 0 if it is not live; with upserts, the value may lag behind changes
     */
    public long memoryBytes(long version) {
        Version found = live().find(version);
        return found == null ? 0 : found.index().memoryBytes() + found.valueBytes();
    }

    /** {@return size statistics of the current version, after changes in progress} */
    public synchronized Stats stats() {
        Version now = live().current;
        if (now == null) {
            return new Stats(0, 0, 0, 0, 0);
        }
        return new Stats(
                now.number(), now.index().size(), now.index().memoryBytes(), now.valueBytes(), now.replacedBytes());
    }

    /**
     * Read statistics of the current version with limited memory for values. All counts are 0 if all values are in memory.
     *
     * @param version its number
     * @param rowsInMemory rows with a copy in memory now
     * @param hits rows read from memory
     * @param misses rows read from a file
     * @param blocks blocks of 4 KiB read for the misses
     * @param promoted rows copied into memory
     * @param evicted rows evicted from memory, including replaced and removed rows
     * @param spared how often a row was kept because it had been read since its last turn
     * @param spilledBytes bytes of upserted rows in the second file
     */
    public record ColdStats(
            long version,
            long rowsInMemory,
            long hits,
            long misses,
            long blocks,
            long promoted,
            long evicted,
            long spared,
            long spilledBytes) {}

    /** {@return read statistics of the current version since it was loaded, after changes in progress} */
    public synchronized ColdStats coldStats() {
        Version now = live().current;
        ColdValues cold = now == null ? null : now.cold();
        if (now == null || cold == null) {
            return new ColdStats(now == null ? 0 : now.number(), 0, 0, 0, 0, 0, 0, 0, 0);
        }
        return cold.stats(now.number());
    }

    /**
     * A search that fetches the rows of keys, of the version that is current when it begins. It parks while rows are read from a disk.
     *
     * @param columns names of columns; all columns if none is named
     * @return a thread-safe, reusable search, to be submitted with {@code Indexing.submitSteps} of the orchestrator that the table was opened with,
     *     or of any orchestrator if all values are in memory. It fails as {@link Reader#getAll(long[], RowBatch, String...)} does, and rows that
     *     cannot be read fail separately, as there
     */
    public Search<long[], RowBatch> fetch(String... columns) {
        return new RowFetch(this, List.of(columns)).search();
    }

    /**
     * A search that fetches the rows of keys, of one version, up to a size. It parks while rows are read from a disk.
     *
     * @param of the version, or 0 for the version that is current when the search begins
     * @param maxBytes the maximum size of a batch, 0 or more: of its ends and rows, and, if some of its rows are read from a file, of all columns of
     *     all its rows
     * @param columns names of columns; all columns if empty
     * @return a search as of {@link #fetch(String...)}; it also fails with a {@link VersionGoneException} if the version is not live, and a {@link
     *     RowBatch.TooLargeException} if a batch exceeds {@code maxBytes}
     * @throws IllegalArgumentException if {@code maxBytes} is negative
     */
    public Search<long[], RowBatch> fetch(long of, long maxBytes, List<String> columns) {
        Vectors.requireRange("maxBytes", maxBytes, 0, Long.MAX_VALUE);
        return new RowFetch(this, of, maxBytes, List.copyOf(columns)).search();
    }

    /**
     * The mapping id of this table, at whose home its searches run best.
     *
     * @return its id at the orchestrator that it was opened with
     * @throws IllegalStateException if the memory for values is not limited, so it was opened without an orchestrator
     */
    public MappingId mappingId() {
        if (valueMemory == null) {
            throw new IllegalStateException("a table whose values are all in memory has no mapping id");
        }
        return valueMemory.registration().id();
    }

    /** Takes reads from the pool of searches; to be given back. */
    RowReads borrowReads() {
        RowReads reads = idle.poll();
        return reads == null ? newReads() : reads;
    }

    void giveBack(RowReads reads) {
        idle.add(reads);
    }

    /** The readers that changes of the live versions wait for. */
    Readers readers() {
        return readers;
    }

    @Nullable
    ValueMemory valueMemory() {
        return valueMemory;
    }

    /** {@return a new reader, which any one thread at a time may use; the caller closes it} */
    public Reader reader() {
        return new Reader(newReads());
    }

    private RowReads newReads() {
        live();
        return new RowReads(this, readers.join());
    }

    /** Closes the table: waits for reader calls in progress, then frees its memory. Idempotent. */
    @Override
    public void close() {
        synchronized (loading) {
            if (live != null) {
                replace(null);
                if (valueMemory != null) {
                    valueMemory.registration().close();
                }
                folder.close();
            }
        }
    }

    /** Reads rows concurrently with all changes of the table, without waiting for them. For one thread at a time. */
    public static final class Reader implements AutoCloseable {
        private final RowReads reads;

        private Reader(RowReads reads) {
            this.reads = reads;
        }

        /**
         * Reads the rows of keys in the current version.
         *
         * @param keys any keys; a repeated key gets a row each time
         * @param rows filled with one row per key, in the order of the keys; unchanged if this fails
         * @param wanted names of columns; all columns if none is named
         * @return the number of keys present; a row that cannot be read from the version's file fails separately ({@link RowBatch#failure})
         * @throws IllegalArgumentException if a name is not a column, or there is no room for the rows
         * @throws IllegalStateException if no version was published, or the reader or the table is closed
         */
        public int getAll(long[] keys, RowBatch rows, String... wanted) {
            return getAll(0, keys, rows, List.of(wanted));
        }

        /**
         * Reads the rows of keys in one version.
         *
         * @param of the version, or 0 for the current one
         * @param keys any keys; a repeated key gets a row each time
         * @param rows filled with one row per key, in the order of the keys; unchanged if this fails
         * @param wanted names of columns; all columns if empty. An equal list in the next call is faster
         * @return the number of keys present; a row that cannot be read from the version's file fails separately ({@link RowBatch#failure})
         * @throws VersionGoneException if that version is not live
         * @throws IllegalArgumentException if a name is not a column, or there is no room for the rows
         * @throws IllegalStateException if no version was published, or the reader or the table is closed
         */
        public int getAll(long of, long[] keys, RowBatch rows, List<String> wanted) {
            return finish(reads.begin(of, keys, rows, wanted, null), rows);
        }

        /**
         * Reads the rows of keys in one version.
         *
         * @param of the version, or 0 for the current one
         * @param keys longs in the machine's byte order; on or off heap
         * @param n the number of keys, 0 or more
         * @param rows filled with one row per key, in the order of the keys; unchanged if this fails
         * @param wanted names of columns; all columns if empty. An equal list in the next call is faster
         * @return the number of keys present; a row that cannot be read from the version's file fails separately ({@link RowBatch#failure})
         * @throws VersionGoneException if that version is not live
         * @throws IllegalArgumentException if {@code n} is negative or more than the keys, a name is not a column, or there is no room for the rows
         * @throws IllegalStateException if no version was published, or the reader or the table is closed
         */
        public int getAll(long of, MemorySegment keys, int n, RowBatch rows, List<String> wanted) {
            if (n < 0 || n > keys.byteSize() / Long.BYTES) {
                throw new IllegalArgumentException(
                        "n must be between 0 and " + keys.byteSize() / Long.BYTES + ", got " + n);
            }
            return finish(reads.begin(of, keys, n, rows, wanted, null), rows);
        }

        private static int finish(@Nullable ColdFetch cold, RowBatch rows) {
            if (cold != null) {
                cold.readBlocking();
                return cold.finish();
            }
            return rows.present();
        }

        /** Closes the reader; it must not be in a call. Idempotent. */
        @Override
        public void close() {
            reads.close();
        }
    }

    /** Thrown if a requested version of a {@link VersionedRows} is not live: not loaded yet, or unloaded. The message names the live versions, or the version. */
    public static final class VersionGoneException extends RuntimeException {
        private static final long serialVersionUID = 1;

        VersionGoneException(String message) {
            super(message);
        }
    }
}
