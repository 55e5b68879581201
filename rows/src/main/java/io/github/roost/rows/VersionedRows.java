package io.github.roost.rows;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Search;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.neighborhash.spi.Readers;
import io.github.roost.vector.TableFileException;
import io.github.roost.vector.Vectors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * <p>Thread-safe. Methods that publish, load, unload, change or begin versions wait for each other; readers wait for none of them.
 * After {@link #close} all methods throw an {@link IllegalStateException}.
 *
 * <p>The memory of a version is freed after a grace period, as in {@link NeighborHashMap}: the live versions are replaced, then all read
 * sections that were open end, then the memory is freed. Later read sections see the new versions.
 */
public final class VersionedRows implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VersionedRows.class);

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
    /** Rows per batch when rows of the current version are copied to the next. */
    private static final int READ_AT_ONCE = 1_024;

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
    /** A pool of readers for searches; it holds as many as have ever been in use at once. */
    private final Queue<Reader> idle = new ConcurrentLinkedQueue<>();
    /** Null if all values are in memory. */
    private final @Nullable ValueMemory valueMemory;
    /** The versions that builders are open for. Guarded by this. */
    private final Set<Long> begun = new HashSet<>();
    /** Null if the table is closed. Written under the lock of this. */
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
     * @throws TableFileException if the version's file, or the file that names the current version, is damaged, truncated, not of a table, or of a
     *     newer format
     * @throws IOException if the folder cannot be read or written, or a table is open there
     */
    public static VersionedRows open(Path folder) throws IOException {
        return open(folder, Updates.VERSIONS);
    }

    /**
     * Opens a table, and loads the version published last.
     *
     * @param folder the table's folder; created if it does not exist
     * @param updates which changes the current version accepts
     * @return the table; the caller closes it
     * @throws TableFileException if the version's file, or the file that names the current version, is damaged, truncated, not of a table, or of a
     *     newer format
     * @throws IOException if the folder cannot be read or written, or a table is open there
     */
    public static VersionedRows open(Path folder, Updates updates) throws IOException {
        return builder(folder).updates(updates).open();
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
         * @throws TableFileException if the version's file, or the file that names the current version, is damaged, truncated, not of a table, or of
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

    /**
     * The current version: the default of reads that pass no version.
     *
     * @return its number, or 0 if none was published
     */
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

    /**
     * The versions that can be read.
     *
     * @return at most two version numbers, the current one first
     */
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
        live();
        requireVersion(version);
        if (expectedRows < 0 || expectedRows > MAX_EXPECTED) {
            throw new IllegalArgumentException(
                    "expectedRows must be between 0 and " + MAX_EXPECTED + ", got " + expectedRows);
        }
        if (begun.contains(version) || folder.sealed().contains(version)) {
            throw new IllegalArgumentException("version must be new, got " + version + ", which is there already");
        }
        Version empty = Version.empty(version, schema, expectedRows);
        begun.add(version);
        return new VersionBuilder(this, empty, folder.file(version));
    }

    private static void requireVersion(long version) {
        if (version < 1 || version > MAX_VERSION) {
            throw new IllegalArgumentException("version must be between 1 and " + MAX_VERSION + ", got " + version);
        }
    }

    synchronized void ended(long version) {
        begun.remove(version);
    }

    /** Adds the current version's rows whose keys are absent in the target; returns how many. */
    synchronized long addTo(Version target) {
        Version current = requireCurrent();
        if (!current.schema().equals(target.schema())) {
            throw new IllegalArgumentException("the schema of version " + target.number()
                    + " must be that of the current one, " + current.schema() + ", is " + target.schema());
        }
        long before = target.index().size();
        if (current.cold() != null) {
            addRead(current, target);
        } else {
            current.index().forEach((key, place) -> {
                if (target.index().get(key, NeighborHashMap.ABSENT) == NeighborHashMap.ABSENT) {
                    target.put(key, current.row(place));
                }
            });
        }
        return target.index().size() - before;
    }

    /** Adds absent rows of a current version some of whose rows must be read from its file. */
    private void addRead(Version current, Version target) {
        RowBatch rows = RowBatch.onHeap();
        long[] keys = new long[READ_AT_ONCE];
        int[] count = {0};
        try (Reader reader = reader()) {
            current.index().forEach((key, place) -> {
                if (target.index().get(key, NeighborHashMap.ABSENT) == NeighborHashMap.ABSENT) {
                    keys[count[0]++] = key;
                }
                if (count[0] == keys.length) {
                    add(reader, keys, rows, target);
                    count[0] = 0;
                }
            });
            add(reader, Arrays.copyOf(keys, count[0]), rows, target);
        }
    }

    private static void add(Reader reader, long[] keys, RowBatch rows, Version target) {
        reader.getAll(keys, rows);
        for (int i = 0; i < keys.length; i++) {
            target.put(keys[i], rows.rowBytes(i));
        }
    }

    /**
     * Loads a sealed version as the second live version, for reads that pass its number. It replaces the second live version, if
     * there is one. No effect if the version is live.
     *
     * @param version the number of a sealed version
     * @throws TableFileException if its file is damaged, truncated, not of a table, or of a newer format; nothing has changed
     * @throws IOException if it cannot be read; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public synchronized void load(long version) throws IOException {
        Live now = live();
        requireVersion(version);
        if (now.find(version) == null) {
            replace(new Live(now.current, read(version)));
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
     * @throws TableFileException if its file is damaged, truncated, not of a table, or of a newer format; nothing has changed
     * @throws IOException if it cannot be read, or the current version's name cannot be written; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public synchronized void publish(long version) throws IOException {
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
        deleteOlder(version);
    }

    /** Deletes older files but keeps the previous version's, which may be live and allows a rollback. */
    private void deleteOlder(long current) {
        try {
            List<Long> older = folder.sealed().stream()
                    .filter(version -> version < current)
                    .toList();
            for (long version : older.subList(0, Math.max(0, older.size() - 1))) {
                folder.delete(version);
            }
        } catch (IOException e) {
            LOG.warn("files of versions before {} stay in {}", current, folder, e);
        }
    }

    /**
     * Unloads the second live version and frees its memory. Its file stays. No effect if the version is not live.
     *
     * @param version any version but the current one
     * @throws IllegalArgumentException if it is the current one
     */
    public synchronized void unload(long version) {
        Live now = live();
        Version found = now.find(version);
        if (found != null && found == now.current) {
            throw new IllegalArgumentException("version must not be the current one, got " + version);
        }
        if (found != null) {
            replace(new Live(now.current, null));
        }
    }

    /**
     * Deletes the file of a version that is not live. No effect if there is none.
     *
     * @param version a version that is not live
     * @throws IllegalArgumentException if it is live
     * @throws IOException if it cannot be deleted
     */
    public synchronized void delete(long version) throws IOException {
        if (live().find(version) != null) {
            throw new IllegalArgumentException("version must not be live, got " + version);
        }
        folder.delete(version);
    }

    /** Replaces the live versions, waits for a grace period, and closes versions that are not live afterwards. */
    private void replace(@Nullable Live next) {
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
     * @throws IllegalArgumentException if this is not a row of the current version's schema; nothing has changed
     * @throws UnsupportedOperationException if the table was not opened with {@link Updates#UPSERTS}
     * @throws IllegalStateException if no version was published
     * @throws UncheckedIOException if the memory for values is limited, and rows cannot be written to the file, for example on a full disk; nothing
     *     has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
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
        if (updates != Updates.UPSERTS) {
            throw new UnsupportedOperationException("the table was opened for versions that do not change");
        }
        return requireCurrent();
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

    /**
     * Size statistics of the current version. Waits for changes in progress.
     *
     * @return the statistics as of now
     */
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

    /**
     * Read statistics of the current version. Waits for changes in progress.
     *
     * @return the statistics since the version was loaded
     */
    public synchronized ColdStats coldStats() {
        Version now = live().current;
        ColdValues cold = now == null ? null : now.cold();
        if (now == null || cold == null) {
            return new ColdStats(now == null ? 0 : now.number(), 0, 0, 0, 0, 0, 0, 0, 0);
        }
        ColdValues.Counts read = cold.counts();
        HotRows.Counts hot = cold.hot().counts();
        return new ColdStats(
                now.number(),
                hot.rows(),
                read.hits(),
                read.misses(),
                read.blocks(),
                hot.promoted(),
                hot.evicted(),
                hot.spared(),
                cold.spilledBytes());
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
        return fetch(new RowFetch(this, List.of(columns)));
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
        return fetch(new RowFetch(this, of, maxBytes, List.copyOf(columns)));
    }

    private static Search<long[], RowBatch> fetch(RowFetch rows) {
        return (keys, context) -> {
            context.touched(keys.length, 0);
            return rows.step(keys, Function.identity(), context);
        };
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

    /** Takes a reader from the pool of searches; to be given back. */
    Reader borrowReader() {
        Reader reader = idle.poll();
        return reader == null ? reader() : reader;
    }

    void giveBack(Reader reader) {
        idle.add(reader);
    }

    /** The readers that changes of the live versions wait for. */
    Readers readers() {
        return readers;
    }

    @Nullable
    ValueMemory valueMemory() {
        return valueMemory;
    }

    /**
     * Creates a reader. Can be called by any thread.
     *
     * @return a reader for one thread at a time; the caller closes it
     */
    public Reader reader() {
        live();
        return new Reader(this, readers.join());
    }

    /** Closes the table: waits for reader calls in progress, then frees its memory. Idempotent. */
    @Override
    public synchronized void close() {
        if (live != null) {
            replace(null);
            if (valueMemory != null) {
                valueMemory.registration().close();
            }
            try {
                folder.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Reads rows concurrently with all changes of the table, without waiting for them. For one thread at a time. */
    public static final class Reader implements AutoCloseable {
        private static final int FIRST_KEYS = 128;

        private final VersionedRows table;
        private final AtomicLongArray cell;
        private boolean isClosed;

        /** Memory for keys passed as an array, and for places. */
        private MemorySegment scratch = scratch(FIRST_KEYS);
        /** The version of the last call; it and the projection are reused while calls ask for the same version and columns. */
        private @Nullable Version version;

        private List<String> columns = List.of();
        private @Nullable Projection projection;
        /** A reader of the version's index, if the table takes upserts. */
        private NeighborHashMap.@Nullable Reader index;

        private Reader(VersionedRows table, AtomicLongArray cell) {
            this.table = table;
            this.cell = cell;
        }

        private static MemorySegment scratch(int keys) {
            return Arena.ofAuto().allocate(2L * keys * Long.BYTES, Long.BYTES);
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
            reserve(keys.length);
            MemorySegment.copy(keys, 0, scratch, ValueLayout.JAVA_LONG, 0, keys.length);
            return read(of, scratch.asSlice(0, scratch.byteSize() / 2), keys.length, rows, wanted);
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
            reserve(n);
            return read(of, keys, n, rows, wanted);
        }

        private void reserve(int keys) {
            if (2L * keys * Long.BYTES > scratch.byteSize()) {
                scratch = scratch(Math.max(keys, (int) Math.min(1 << 28, 2L * keys)));
            }
        }

        private int read(long of, MemorySegment keys, int n, RowBatch rows, List<String> wanted) {
            ColdFetch cold = begin(of, keys, n, rows, wanted, null);
            if (cold != null) {
                cold.readBlocking();
                return cold.finish();
            }
            return rows.present();
        }

        /**
         * Begins to read rows of one version for a search, as {@link #begin(long, MemorySegment, int, RowBatch, List, SearchContext)} does.
         */
        @Nullable
        ColdFetch begin(long of, long[] keys, RowBatch rows, List<String> wanted, SearchContext context) {
            reserve(keys.length);
            MemorySegment.copy(keys, 0, scratch, ValueLayout.JAVA_LONG, 0, keys.length);
            return begin(of, scratch.asSlice(0, scratch.byteSize() / 2), keys.length, rows, wanted, context);
        }

        /** Fills the batch and returns null, or begins to read its cold rows. Afterwards this reader can serve another call. */
        private @Nullable ColdFetch begin(
                long of,
                MemorySegment keys,
                int n,
                RowBatch rows,
                List<String> wanted,
                @Nullable SearchContext context) {
            if (isClosed) {
                throw new IllegalStateException("the reader is closed");
            }
            Readers.enter(cell);
            try {
                Version from = find(of);
                Projection columnsOf = prepare(from, wanted);
                MemorySegment places = scratch.asSlice(scratch.byteSize() / 2, (long) n * Long.BYTES);
                ColdValues cold = from.cold();
                if (index != null) {
                    index.getAll(keys, n, places);
                } else if (cold != null) {
                    from.index().getAllBesideReplacing(keys, n, places);
                } else {
                    from.index().getAll(keys, n, places);
                }
                if (cold != null) {
                    return cold.fill(keys, places, n, columnsOf, rows, context);
                }
                from.copy(places, n, columnsOf, rows);
                return null;
            } finally {
                Readers.exit(cell);
            }
        }

        private Version find(long of) {
            if (of == 0) {
                return table.requireCurrent();
            }
            Version found = table.live().find(of);
            if (found == null) {
                throw new VersionGoneException("version must be one of " + table.liveVersions() + ", got " + of);
            }
            return found;
        }

        private Projection prepare(Version from, List<String> wanted) {
            Projection made = projection;
            if (from == version && made != null && wanted.equals(columns)) {
                return made;
            }
            Projection other = Projection.of(from.schema(), wanted);
            if (from != version && table.updates == Updates.UPSERTS) {
                closeIndex();
                index = from.index().reader();
            }
            version = from;
            columns = List.copyOf(wanted);
            projection = other;
            return other;
        }

        private void closeIndex() {
            if (index != null) {
                index.close();
                index = null;
            }
        }

        /** Closes the reader; it must not be in a call. Idempotent. */
        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                closeIndex();
                table.readers.leave(cell);
            }
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
