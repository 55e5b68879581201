package io.github.roost.table;

import io.github.roost.core.TableFileException;
import io.github.roost.table.kernel.Slots;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
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
    public static final long MOST_VERSION = 999_999_999_999_999_999L;

    private static final long MOST_EXPECTED = 1L << 38;

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
    /** Versions that are being loaded. Guarded by this. */
    private final Set<Long> begun = new HashSet<>();
    /** Null when the table is closed. Written under the lock of this. */
    private volatile @Nullable Live live = new Live(null, null);

    private Table(TableFolder folder, Updates updates) {
        this.folder = folder;
        this.updates = updates;
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
        Table table = new Table(TableFolder.open(folder), Objects.requireNonNull(updates, "updates must not be null"));
        boolean done = false;
        try {
            long current = table.folder.current();
            if (current != 0) {
                table.publish(current);
            }
            done = true;
            return table;
        } finally {
            if (!done) {
                table.close();
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
     * @param version its number, from 1 to {@link #MOST_VERSION}; of no version that is sealed or begun
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
     * @param version its number, from 1 to {@link #MOST_VERSION}; of no version that is sealed or begun
     * @param schema of its rows
     * @param expectedRows from 0 to 2^38; there may be more
     * @return to be loaded, sealed and closed
     * @throws IllegalArgumentException if the number is out of range or taken, or {@code expectedRows} out of range
     * @throws IOException if the folder cannot be read
     */
    public synchronized VersionBuilder begin(long version, Schema schema, long expectedRows) throws IOException {
        live();
        requireVersion(version);
        if (expectedRows < 0 || expectedRows > MOST_EXPECTED) {
            throw new IllegalArgumentException(
                    "expectedRows must be between 0 and " + MOST_EXPECTED + ", got " + expectedRows);
        }
        if (begun.contains(version) || folder.sealed().contains(version)) {
            throw new IllegalArgumentException("version must be new, got " + version + ", which is there already");
        }
        Version empty = Version.empty(version, schema, expectedRows);
        begun.add(version);
        return new VersionBuilder(this, empty, folder.file(version));
    }

    private static void requireVersion(long version) {
        if (version < 1 || version > MOST_VERSION) {
            throw new IllegalArgumentException("version must be between 1 and " + MOST_VERSION + ", got " + version);
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
        current.index().forEach((key, place) -> {
            if (target.index().get(key, LongTable.ABSENT) == LongTable.ABSENT) {
                target.put(key, current.row(place));
            }
        });
        return target.index().size() - before;
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
            replace(new Live(now.current, VersionFile.read(folder.file(version), version)));
        }
    }

    /**
     * Makes a version the current one, having {@link #load}ed it where it is not live. The one that was current stays live beside it; of older
     * versions than the published one the newest file is kept, others are deleted. Should this fail, whatever was current is so still.
     *
     * @param version sealed
     * @throws TableFileException if its file is damaged, truncated, none of a table, or of a newer format; all is as before
     * @throws IOException if it cannot be read, or what is current cannot be written; all is as before
     * @throws OutOfMemoryError if there is no memory for it; all is as before
     */
    public synchronized void publish(long version) throws IOException {
        load(version);
        Live now = live();
        Version next = Objects.requireNonNull(now.find(version));
        if (next == now.current) {
            return;
        }
        // Before readers see it: what was answered once is not forgotten by a restart.
        folder.setCurrent(version);
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
     * @param valueBytes memory of the rows, in use
     * @param replacedBytes of these, rows that another one has replaced or that were removed
     */
    public record Stats(long version, long rows, long indexBytes, long valueBytes, long replacedBytes) {}

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
                now.number(),
                now.index().size(),
                now.index().slots().count() * Slots.SLOT_BYTES,
                now.values().bytes(),
                now.replacedBytes());
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
         * @return how many of the keys are there
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
         * @return how many of the keys are there
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
         * @return how many of the keys are there
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
            if (isClosed) {
                throw new IllegalStateException("the reader is closed");
            }
            Readers.enter(cell);
            try {
                Version from = find(of);
                Projection columnsOf = prepare(from, wanted);
                MemorySegment places = scratch.asSlice(scratch.byteSize() / 2, (long) n * Long.BYTES);
                int found = index == null ? from.index().getAll(keys, n, places) : index.getAll(keys, n, places);
                from.copy(places, n, columnsOf, rows);
                return found;
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
