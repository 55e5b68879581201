package io.github.roost.table;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
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
 * Rows by long keys, in versions: each is loaded, sealed into a file of the table's folder, and published, and is not changed after. Two are
 * live: the current one, and the one before it or the one that is to come. All that a {@link Reader} gets with one call is of one version.
 *
 * <pre>{@code
 * begin(2, schema)  ->  put ...  ->  seal()  ->  load(2)  ->  publish(2)
 *                                  survives      live         current
 * }</pre>
 *
 * <p>A table that was opened with {@link Updates#UPSERTS} takes changes of its current version, too, each visible at once and by
 * itself, so one call may see some and not others. They are in memory: {@link VersionBuilder#putOthersOfCurrent} takes them into
 * the next version.
 *
 * <p>What is published, loaded, unloaded, changed or begun is so by one thread at a time, whoever calls: these methods wait for each
 * other. Readers wait for none of them. Used after it was closed, a table throws an {@link IllegalStateException}.
 *
 * <p>Where the memory of a version is given back: readers count entries and exits, as those of {@link LongTable} do; the live versions
 * are replaced first, then all that were inside are waited for, then memory is freed. Who enters later sees the new versions.
 */
public final class Table implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Table.class);

    /** What may happen to a version that is current. */
    public enum Updates {
        /** Nothing: the next version replaces it. */
        VERSIONS,
        /** Rows are put and removed one by one. */
        UPSERTS
    }

    /** The largest number of a version: 10^18 - 1. */
    public static final long MAX_VERSION = 999_999_999_999_999_999L;

    private static final long MAX_EXPECTED = 1L << 38;
    /** Rows of a version that are read for the next one. */
    private static final int READ_AT_ONCE = 1_024;

    /** The versions that may be read; null where there is none. */
    private record Live(@Nullable Version current, @Nullable Version other) {
        @Nullable
        Version find(long number) {
            if (current != null && current.number() == number) {
                return current;
            }
            return other != null && other.number() == number ? other : null;
        }
    }

    private final TableFolder folder;
    private final Updates updates;
    private final Readers readers = new Readers();
    /** Of searches, to be used again: as many as have ever been in use at once, whatever was searched with them. */
    private final Queue<Reader> idle = new ConcurrentLinkedQueue<>();
    /** Null where all values are in memory. */
    private final @Nullable ValueMemory valueMemory;
    /** Versions that are being loaded. Guarded by this. */
    private final Set<Long> begun = new HashSet<>();
    /** Null when the table is closed. Written under the lock of this. */
    private volatile @Nullable Live live = new Live(null, null);

    private Table(TableFolder folder, Builder builder) {
        this.folder = folder;
        this.updates = builder.updates;
        this.valueMemory = builder.memory(readers);
    }

    /**
     * Opens a table whose versions do not change, and reads the version that was published last.
     *
     * @param folder of the table; made if it is not there
     * @return to be closed
     * @throws TableFileException if the version's file, or the one that names it, is damaged, truncated, none of a table, or of a newer format
     * @throws IOException if the folder cannot be read or written, or a table there is open
     */
    public static Table open(Path folder) throws IOException {
        return open(folder, Updates.VERSIONS);
    }

    /**
     * Opens a table, and reads the version that was published last.
     *
     * @param folder of the table; made if it is not there
     * @param updates what may happen to a version that is current
     * @return to be closed
     * @throws TableFileException if the version's file, or the one that names it, is damaged, truncated, none of a table, or of a newer format
     * @throws IOException if the folder cannot be read or written, or a table there is open
     */
    public static Table open(Path folder, Updates updates) throws IOException {
        return builder(folder).updates(updates).open();
    }

    /**
     * Collects the options.
     *
     * @param folder of the table; made if it is not there
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
         * Sets what may happen to a version that is current.
         *
         * @param value default {@link Updates#VERSIONS}
         * @return this builder
         */
        public Builder updates(Updates value) {
            this.updates = Objects.requireNonNull(value, "updates must not be null");
            return this;
        }

        /**
         * Sets how much memory the values of each live version may take. A version whose values take more has all of them in its file, and copies of rows
         * that are read often in memory; all keys are in memory. Rows that are not are read from the file when they are asked for:
         * {@link #fetch} and {@link Attributes} park meanwhile, a {@link Reader} waits. By default all values are in memory.
         *
         * <p>A version is still built in memory, and checked as a whole when it is loaded. One that takes {@linkplain Updates#UPSERTS upserts} has all values in
         * files, however few they are: rows that are put go to a file of their own in the table's folder, by 64 KiB, which come to the memory and wait to be written. That
         * file grows with every row that is put; it is deleted with the version's last use, and by {@link Table#open} after a process was killed.
         *
         * @param bytes at least twice what the longest row of a version takes, with 24 bytes more each; of this, 1.6 % at most are for what tells which rows
         *     to keep. A version whose rows are longer is refused when it is loaded, with an {@link IllegalArgumentException}
         * @param runs evicts rows as maintenance; its searches alone may fetch rows, but any thread may read them
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
         * Opens the table, and reads the version that was published last.
         *
         * @return to be closed
         * @throws IllegalArgumentException if memory for values has no room for twice that version's longest row
         * @throws TableFileException if the version's file, or the one that names it, is damaged, truncated, none of a table, or of a newer format
         * @throws IOException if the folder cannot be read or written, or a table there is open
         */
        public Table open() throws IOException {
            TableFolder locked = TableFolder.open(folder);
            Table table = null;
            boolean done = false;
            try {
                table = new Table(locked, this);
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
     * The version that is read by who asks for none.
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
     * @return two at most, the current one first
     */
    public List<Long> liveVersions() {
        Live now = live();
        return Stream.of(now.current, now.other)
                .filter(Objects::nonNull)
                .map(Version::number)
                .toList();
    }

    /**
     * The versions that are sealed in the folder.
     *
     * @return in ascending order
     * @throws IOException if the folder cannot be read
     */
    public List<Long> sealedVersions() throws IOException {
        live();
        return folder.sealed();
    }

    /**
     * Begins a version.
     *
     * @param version its number, from 1 to {@link #MAX_VERSION}; of no version that is sealed or begun
     * @param schema of its rows
     * @return to be loaded, sealed and closed
     * @throws IllegalArgumentException if the number is out of range or taken
     * @throws IOException if the folder cannot be read
     */
    public VersionBuilder begin(long version, Schema schema) throws IOException {
        return begin(version, schema, 0);
    }

    /**
     * Begins a version of which it is known how many rows there will be, so that its index need not grow.
     *
     * @param version its number, from 1 to {@link #MAX_VERSION}; of no version that is sealed or begun
     * @param schema of its rows
     * @param expectedRows from 0 to 2^38; there may be more
     * @return to be loaded, sealed and closed
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

    /** Adds rows of the current version that are not there. */
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
                if (target.index().get(key, LongTable.ABSENT) == LongTable.ABSENT) {
                    target.put(key, current.row(place));
                }
            });
        }
        return target.index().size() - before;
    }

    /** Adds rows of which some are to be read first. */
    private void addRead(Version current, Version target) {
        RowBatch rows = RowBatch.onHeap();
        long[] keys = new long[READ_AT_ONCE];
        int[] count = {0};
        try (Reader reader = reader()) {
            current.index().forEach((key, place) -> {
                if (target.index().get(key, LongTable.ABSENT) == LongTable.ABSENT) {
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
     * Reads a sealed version and has it live beside the current one, for who asks for it by number; the version that was live
     * beside the current one until now no longer is. Nothing happens if it is live.
     *
     * @param version sealed
     * @throws TableFileException if its file is damaged, truncated, none of a table, or of a newer format; all is as before
     * @throws IOException if it cannot be read; all is as before
     * @throws OutOfMemoryError if there is no memory for it; all is as before
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
     * Makes a version the current one, having read it where it is not live. The one that was current stays live beside it, and the one that was beside that no
     * longer is; of older versions than the published one the newest file is kept, others are deleted. Should this fail, all is as before.
     *
     * @param version sealed
     * @throws TableFileException if its file is damaged, truncated, none of a table, or of a newer format; all is as before
     * @throws IOException if it cannot be read, or what is current cannot be written; all is as before
     * @throws OutOfMemoryError if there is no memory for it; all is as before
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
            // Before readers see it: what was answered once is not forgotten by a restart.
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

    /** Keeps the file of the version before the current one, which may be live and is what to go back to. */
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
     * Ends that a version is live beside the current one, and gives its memory back. Its file stays. Nothing happens if it is not live.
     *
     * @param version any but the current one
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
     * Deletes the file of a version that is not live. Nothing happens if there is none.
     *
     * @param version that is not live
     * @throws IllegalArgumentException if it is live
     * @throws IOException if it cannot be deleted
     */
    public synchronized void delete(long version) throws IOException {
        if (live().find(version) != null) {
            throw new IllegalArgumentException("version must not be live, got " + version);
        }
        folder.delete(version);
    }

    /** Has other versions live, and closes those that are live no longer, once nobody is inside who may read them. */
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
     * Puts a row into the current version, or replaces the one that is there.
     *
     * @param key any
     * @param row as it is set now; copied
     * @throws IllegalArgumentException if this is not a row of the current version's schema; nothing has changed
     * @throws UnsupportedOperationException if the table was not opened with {@link Updates#UPSERTS}
     * @throws IllegalStateException if no version was published
     * @throws UncheckedIOException if memory for values is limited, and rows that do not fit cannot be written, say for lack of room; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public synchronized void upsert(long key, RowWriter row) {
        upsert(key, row.row());
    }

    /**
     * Puts a row into the current version, or replaces the one that is there.
     *
     * @param key any
     * @param row its bytes, as {@link Schema} lays them out; copied
     * @throws IllegalArgumentException if these are not the bytes of a row; nothing has changed
     * @throws UnsupportedOperationException if the table was not opened with {@link Updates#UPSERTS}
     * @throws IllegalStateException if no version was published
     * @throws UncheckedIOException if memory for values is limited, and rows that do not fit cannot be written, say for lack of room; nothing has changed
     * @throws OutOfMemoryError if there is no memory for it; nothing has changed
     */
    public synchronized void upsert(long key, MemorySegment row) {
        requireUpserts().put(key, row);
    }

    /**
     * Takes a row out of the current version.
     *
     * @param key any
     * @return whether it was there
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
     * What the current version is like.
     *
     * @param version its number; 0 if none was published
     * @param rows keys that are there
     * @param indexBytes memory of the index
     * @param valueBytes memory of the rows, in use; where some are cold, all that there is for others
     * @param replacedBytes of these, rows that another one has replaced or that were removed; 0 where some are cold
     */
    public record Stats(long version, long rows, long indexBytes, long valueBytes, long replacedBytes) {}

    /**
     * What a version takes in memory. Waits for nothing.
     *
     * @param version any
     * @return bytes of its index and its rows, 0 if it is not live; of a table that is opened for upserts, as of a moment ago
     */
    public long memoryBytes(long version) {
        Version found = live().find(version);
        return found == null ? 0 : found.index().memoryBytes() + found.valueBytes();
    }

    /**
     * What the current version is like. Waits for changes.
     *
     * @return as of now
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
     * How the rows of the current version were read, of which not all are in memory. All are 0 where all are.
     *
     * @param version its number
     * @param rowsInMemory now
     * @param hits rows that were read from memory
     * @param misses rows that were read from the file
     * @param blocks of 4 KiB that were read for these
     * @param promoted rows that were taken into memory
     * @param evicted rows that are there no more, replaced ones and such that were taken out among them
     * @param spared rows that stay since they were read, each time
     * @param spilledBytes of rows that were put, in a file beside the version's
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
     * How the rows of the current version were read. Waits for changes.
     *
     * @return since the version was loaded
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
     * A search that finds the rows of keys, of the version that is current when it begins. Where some are to be read from a disk it parks meanwhile.
     *
     * @param columns names of columns; all of them, if none is named
     * @return to be submitted with {@code Indexing.submitSteps} of the orchestrator that the table was opened with, or of any one where all values are in
     *     memory; by any thread and as often as wanted. It fails as {@link Reader#getAll(long[], RowBatch, String...)} does,
     *     and rows that cannot be read fail by themselves, as there
     */
    public Search<long[], RowBatch> fetch(String... columns) {
        RowFetch rows = new RowFetch(this, List.of(columns));
        return (keys, context) -> {
            context.touched(keys.length, 0);
            return rows.step(keys, Function.identity(), context);
        };
    }

    /** A reader of searches, to be given back. */
    Reader borrowReader() {
        Reader reader = idle.poll();
        return reader == null ? reader() : reader;
    }

    void giveBack(Reader reader) {
        idle.add(reader);
    }

    /** Who changes of the table wait for. */
    Readers readers() {
        return readers;
    }

    @Nullable
    ValueMemory valueMemory() {
        return valueMemory;
    }

    /**
     * A new reader. By any thread.
     *
     * @return to be used by one thread at a time, and closed
     */
    public Reader reader() {
        live();
        return new Reader(this, readers.join());
    }

    /** Ends the table, once calls of readers that have begun are through, and gives its memory back; again without effect. */
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

    /** Reads rows beside all changes of the table, and waits for none. For one thread at a time. */
    public static final class Reader implements AutoCloseable {
        private static final int FIRST_KEYS = 128;

        private final Table table;
        private final AtomicLongArray cell;
        private boolean isClosed;

        /** Room for keys that come as an array, and for places. */
        private MemorySegment scratch = scratch(FIRST_KEYS);
        /** What the last call read; made anew where another version or other columns are asked for. */
        private @Nullable Version version;

        private List<String> columns = List.of();
        private @Nullable Projection projection;
        /** Of the version's index, where the table takes upserts. */
        private LongTable.@Nullable Reader index;

        private Reader(Table table, AtomicLongArray cell) {
            this.table = table;
            this.cell = cell;
        }

        private static MemorySegment scratch(int keys) {
            return Arena.ofAuto().allocate(2L * keys * Long.BYTES, Long.BYTES);
        }

        /**
         * The rows of keys, of the current version.
         *
         * @param keys any; one that is there twice gets two rows
         * @param rows is filled with a row per key, in the order of the keys; as it was if this fails
         * @param wanted names of columns; all of them, if none is named
         * @return how many of the keys are there; a row that is to be read from the version's file and cannot be fails alone ({@link RowBatch#failure})
         * @throws IllegalArgumentException if there is no column of a name, or no room for the rows
         * @throws IllegalStateException if no version was published, or the reader or the table is closed
         */
        public int getAll(long[] keys, RowBatch rows, String... wanted) {
            return getAll(0, keys, rows, List.of(wanted));
        }

        /**
         * The rows of keys, of one version.
         *
         * @param of the version, or 0 for the current one
         * @param keys any; one that is there twice gets two rows
         * @param rows is filled with a row per key, in the order of the keys; as it was if this fails
         * @param wanted names of columns; all of them, if there are none. The same list again costs less
         * @return how many of the keys are there; a row that is to be read from the version's file and cannot be fails alone ({@link RowBatch#failure})
         * @throws VersionGoneException if that version is not live
         * @throws IllegalArgumentException if there is no column of a name, or no room for the rows
         * @throws IllegalStateException if no version was published, or the reader or the table is closed
         */
        public int getAll(long of, long[] keys, RowBatch rows, List<String> wanted) {
            reserve(keys.length);
            MemorySegment.copy(keys, 0, scratch, ValueLayout.JAVA_LONG, 0, keys.length);
            return read(of, scratch.asSlice(0, scratch.byteSize() / 2), keys.length, rows, wanted);
        }

        /**
         * The rows of keys, of one version.
         *
         * @param of the version, or 0 for the current one
         * @param keys longs of the machine's byte order; on the heap or off it
         * @param n how many keys, 0 or more
         * @param rows is filled with a row per key, in the order of the keys; as it was if this fails
         * @param wanted names of columns; all of them, if there are none. The same list again costs less
         * @return how many of the keys are there; a row that is to be read from the version's file and cannot be fails alone ({@link RowBatch#failure})
         * @throws VersionGoneException if that version is not live
         * @throws IllegalArgumentException if {@code n} is negative or there are fewer keys, there is no column of a name, or no room for the rows
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

        /** Begins to read rows of the current version in a search, as {@link #begin(long, MemorySegment, int, RowBatch, List, SearchContext)} does. */
        @Nullable
        ColdFetch begin(long[] keys, RowBatch rows, List<String> wanted, SearchContext context) {
            reserve(keys.length);
            MemorySegment.copy(keys, 0, scratch, ValueLayout.JAVA_LONG, 0, keys.length);
            return begin(0, scratch.asSlice(0, scratch.byteSize() / 2), keys.length, rows, wanted, context);
        }

        /** Fills the batch and returns null, or begins to read what is missing. After it this reader may be used for something else. */
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

        /** Ends it: the table waits for it no more. Again without effect. */
        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                closeIndex();
                table.readers.leave(cell);
            }
        }
    }
}
