package io.github.roost.tableservice;

import io.github.roost.core.TableFileException;
import io.github.roost.core.file.WholeFile;
import io.github.roost.table.LongTable;
import io.github.roost.table.RowBatch;
import io.github.roost.table.RowWriter;
import io.github.roost.table.Table;
import io.github.roost.table.VersionBuilder;
import io.github.roost.table.VersionGoneException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one server has of one table: shards of one version or two, in a folder. A version that is loaded is there again after a restart.
 * Thread-safe; loading and unloading wait for each other, fetching waits for neither.
 */
public final class TableNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TableNode.class);
    private static final int MAX_VERSIONS = 2;
    /** Memory for rows that is kept for the next request: more is seldom needed, and there may be as many as threads of the server. */
    private static final long MAX_KEPT_BYTES = 4 << 20;

    private static final int MAX_NOTE_BYTES = 1 << 16;
    private static final String SEQUENCE = "sequence";
    private static final Pattern DRAFT = Pattern.compile("\\.(shards-\\d{1,18}|" + SEQUENCE + ")-.*\\.part");

    private final String server;
    private final Path folder;
    private final Table table;
    private final Queue<Fetcher> idle = new ConcurrentLinkedQueue<>();
    /** Held while terms are compared and what is here changes, never for longer; taken within the lock of this, if both are. */
    private final Object showing = new Object();
    /** The highest that has been heard of. Guarded by showing. */
    private long term;
    /** Written under showing. */
    private volatile ServerView view;

    /** A reader, and memory for what it reads. */
    private record Fetcher(Table.Reader reader, RowBatch rows) {}

    private TableNode(String server, Path folder, Table table, long firstSequence) {
        this.server = server;
        this.folder = folder;
        this.table = table;
        this.view = new ServerView(server, firstSequence, Map.of());
    }

    /**
     * Opens what a server has of a table.
     *
     * @param server the server's name
     * @param folder of the table at this server; made if it is not there
     * @return to be closed; a version beside the current one that is damaged is not served, and named in the log
     * @throws IOException as {@link Table#open(Path)}
     */
    public static TableNode open(String server, Path folder) throws IOException {
        return open(server, folder, System::currentTimeMillis);
    }

    /** For tests of a clock that was set back. */
    static TableNode open(String server, Path folder, LongSupplier clockMillis) throws IOException {
        return open(server, folder, clockMillis, Table.builder(folder));
    }

    /** For tests of rows that cannot be read, too: with a table that need not have all values in memory. */
    static TableNode open(String server, Path folder, LongSupplier clockMillis, Table.Builder builder)
            throws IOException {
        Table table = builder.open();
        boolean done = false;
        try {
            removeDrafts(folder);
            TableNode node = new TableNode(server, folder, table, firstSequence(folder, clockMillis));
            node.restore();
            done = true;
            return node;
        } finally {
            if (!done) {
                table.close();
            }
        }
    }

    /** Of a process that was killed while it wrote one. */
    private static void removeDrafts(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(TableNode::isDraft).toList()) {
                Files.delete(file);
            }
        }
    }

    private static boolean isDraft(Path file) {
        return DRAFT.matcher(String.valueOf(file.getFileName())).matches();
    }

    /**
     * A sequence above all of earlier processes, of which clients may still know: by the clock, which tells even where the folder is a new one, and by what the
     * one before began with, in case that the clock was set back. Between two starts there are fewer than 2^20 changes per millisecond, and
     * fewer than 2^32.
     */
    private static long firstSequence(Path folder, LongSupplier clockMillis) throws IOException {
        Path file = folder.resolve(SEQUENCE);
        long first = clockMillis.getAsLong() << 20;
        if (Files.exists(file)) {
            try {
                first = Math.max(
                        first, Long.parseLong(Files.readString(file, StandardCharsets.ISO_8859_1)) + (1L << 32));
            } catch (NumberFormatException e) {
                LOG.warn("{} has no sequence, so that of this process is by the clock alone", file, e);
            }
        }
        byte[] bytes = Long.toString(first).getBytes(StandardCharsets.ISO_8859_1);
        WholeFile.replace(file, channel -> WholeFile.writeAll(channel, ByteBuffer.wrap(bytes)));
        return first;
    }

    private void restore() throws IOException {
        Map<Long, Served> versions = new HashMap<>();
        long current = table.current();
        for (long version : table.sealedVersions()) {
            if (version >= current && current != 0 && versions.size() < MAX_VERSIONS) {
                Served served = version == current ? note(version) : loadBeside(version);
                if (served != null) {
                    versions.put(version, served);
                }
            }
        }
        show(versions);
    }

    /** Loads a version beside the current one, which is served though this one cannot be read. Null if it cannot, or is of an unknown division. */
    private @Nullable Served loadBeside(long version) throws IOException {
        try {
            Served served = note(version);
            if (served != null) {
                table.load(version);
            }
            return served;
        } catch (TableFileException damaged) {
            LOG.warn("version {} is damaged, so it is not served before it has been loaded anew", version, damaged);
            // Without it a coordinator's next load takes the version from its source.
            Files.deleteIfExists(noteFile(version));
        } catch (IOException | OutOfMemoryError e) {
            LOG.warn("version {} cannot be read, so it is not served", version, e);
        }
        return null;
    }

    private void show(Map<Long, Served> versions) {
        synchronized (showing) {
            view = new ServerView(server, view.sequence() + 1, versions);
        }
    }

    /**
     * What is here.
     *
     * @return as of now
     */
    public ServerView view() {
        return view;
    }

    /**
     * Loads shards of a version, if they are not here. Returns when they can be fetched.
     *
     * @param fromTerm of the coordinator that says so
     * @param version to load
     * @param served which shards
     * @param source has the rows
     * @throws IllegalStateException if a coordinator of a later term has been heard of, or two versions are here
     * @throws IllegalArgumentException if the version is here with other shards
     * @throws IOException if the rows cannot be read, or written; what was here is
     */
    public synchronized void load(long fromTerm, long version, Served served, RowSource source) throws IOException {
        requireTerm(fromTerm);
        Map<Long, Served> versions = new HashMap<>(view.versions());
        Served before = versions.get(version);
        if (before != null) {
            if (!before.equals(served)) {
                throw new IllegalArgumentException(
                        "version " + version + " must have shards " + served + ", has " + before);
            }
            return;
        }
        if (versions.size() >= MAX_VERSIONS) {
            throw new IllegalStateException(
                    "versions " + versions.keySet() + " are here, which are as many as there can be");
        }
        boolean isSealed = table.sealedVersions().contains(version);
        if (isSealed && !served.equals(note(version))) {
            // Of an earlier division, or half unloaded when its process was killed: nobody is served from it.
            table.delete(version);
            isSealed = false;
        }
        if (!isSealed) {
            seal(version, served, source);
        }
        if (table.current() == 0) {
            table.publish(version);
        } else {
            table.load(version);
        }
        versions.put(version, served);
        show(versions);
    }

    private void seal(long version, Served served, RowSource source) throws IOException {
        try (VersionBuilder loading = table.begin(version, source.schema(version))) {
            source.load(version, served, new RowSource.Sink() {
                @Override
                public RowWriter writer() {
                    return loading.writer();
                }

                @Override
                public void put(long key, RowWriter row) {
                    if (served.here().contains(LongTable.shard(key, served.shards()))) {
                        loading.put(key, row);
                    }
                }
            });
            writeNote(version, served);
            loading.seal();
        }
    }

    /** Which shards a version has here stands beside it, written before it is. */
    private void writeNote(long version, Served served) throws IOException {
        StringBuilder note = new StringBuilder("shards " + served.shards() + "\n");
        served.here().stream().sorted().forEach(shard -> note.append(shard).append('\n'));
        byte[] bytes = note.toString().getBytes(StandardCharsets.ISO_8859_1);
        WholeFile.replace(noteFile(version), channel -> WholeFile.writeAll(channel, ByteBuffer.wrap(bytes)));
    }

    private Path noteFile(long version) {
        return folder.resolve("shards-" + version);
    }

    private @Nullable Served note(long version) throws IOException {
        Path file = noteFile(version);
        if (!Files.exists(file)) {
            return null;
        }
        try {
            if (Files.size(file) > MAX_NOTE_BYTES) {
                throw new NumberFormatException("too long");
            }
            List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
            Set<Integer> here = new HashSet<>();
            for (String line : lines.subList(1, lines.size())) {
                here.add(Integer.parseInt(line));
            }
            return new Served(Integer.parseInt(lines.getFirst().replace("shards ", "")), here);
        } catch (IllegalArgumentException | NoSuchElementException e) {
            TableFileException damaged = new TableFileException(file, 0, "does not say which shards a version has");
            damaged.initCause(e);
            throw damaged;
        }
    }

    /**
     * Gives up a version, if it is here.
     *
     * @param fromTerm of the coordinator that says so
     * @param version to unload
     * @throws IllegalStateException if a coordinator of a later term has been heard of, or no other version is here
     * @throws IOException if that cannot be written; what was here is
     */
    public synchronized void unload(long fromTerm, long version) throws IOException {
        requireTerm(fromTerm);
        Map<Long, Served> versions = new HashMap<>(view.versions());
        if (versions.remove(version) == null) {
            return;
        }
        if (versions.isEmpty()) {
            throw new IllegalStateException(
                    "version " + version + " must not be unloaded while it is all that is here");
        }
        if (table.current() == version) {
            table.publish(versions.keySet().iterator().next());
        }
        // Said first: requests that are under way find the version gone, which is the same answer.
        synchronized (showing) {
            requireTerm(fromTerm);
            show(versions);
        }
        Files.deleteIfExists(noteFile(version));
        table.unload(version);
        table.delete(version);
    }

    /**
     * Hears of a coordinator. From now on nothing that is here changes by orders of a lower term, but for a version that is being loaded.
     *
     * @return the highest term that has been heard of
     */
    long hear(long fromTerm) {
        synchronized (showing) {
            term = Math.max(term, fromTerm);
            return term;
        }
    }

    private void requireTerm(long fromTerm) {
        long highest = hear(fromTerm);
        if (highest > fromTerm) {
            throw notInCharge(highest, fromTerm);
        }
    }

    static IllegalStateException notInCharge(long inCharge, long term) {
        return new IllegalStateException(
                "a coordinator of term " + inCharge + " is in charge, not one of term " + term);
    }

    /** Of each version that is here, in memory. */
    Map<Long, Long> bytes() {
        Map<Long, Long> bytes = new HashMap<>();
        for (long version : view.versions().keySet()) {
            bytes.put(version, table.memoryBytes(version));
        }
        return bytes;
    }

    /**
     * Fetches rows of one shard of one version, and uses them.
     *
     * @param version that they must be of
     * @param shards of the version
     * @param shard of these
     * @param keys of the shard
     * @param columns names of columns; all, if there are none
     * @param mostBytes that the rows may take
     * @param use is given the rows, which are as they are until it returns
     * @param <R> what is made of them
     * @return what is made of them, or null if that shard of that version is not here
     * @throws IllegalArgumentException if there is no column of a name, or a key is of another shard
     * @throws io.github.roost.table.BatchTooLargeException if the rows take more than they may
     * @throws io.github.roost.table.ColdReadException if a row cannot be read: rows without it are no answer
     */
    <R> @Nullable R fetch(
            long version,
            int shards,
            int shard,
            long[] keys,
            List<String> columns,
            long mostBytes,
            Function<RowBatch, R> use) {
        Served served = view.versions().get(version);
        if (served == null || served.shards() != shards || !served.here().contains(shard)) {
            return null;
        }
        for (long key : keys) {
            if (LongTable.shard(key, shards) != shard) {
                throw new IllegalArgumentException("keys must be of shard " + shard + ", got " + key);
            }
        }
        Fetcher fetcher = idle.poll();
        if (fetcher == null) {
            fetcher = new Fetcher(table.reader(), RowBatch.onHeap());
        }
        boolean isKept = false;
        try {
            fetcher.rows.limitTo(mostBytes);
            fetcher.reader.getAll(version, keys, fetcher.rows, columns);
            isKept = fetcher.rows.memory().byteSize() <= MAX_KEPT_BYTES;
            return use.apply(fetcher.rows);
        } catch (VersionGoneException unloadedMeanwhile) {
            return null;
        } finally {
            if (isKept) {
                idle.add(fetcher);
            } else {
                fetcher.reader.close();
            }
        }
    }

    /** How many readers are kept, for tests. */
    int idle() {
        return idle.size();
    }

    /** Ends it; fetches and loads that are under way end first. */
    @Override
    public synchronized void close() {
        table.close();
    }
}
