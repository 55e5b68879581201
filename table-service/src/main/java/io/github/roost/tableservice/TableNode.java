package io.github.roost.tableservice;

import io.github.roost.core.WholeFile;
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
import org.jspecify.annotations.Nullable;

/**
 * What one server has of one table: shards of one version or two, in a folder. A version that is loaded is there again after a restart.
 * Thread-safe; loading and unloading wait for each other, fetching waits for neither.
 */
public final class TableNode implements AutoCloseable {
    private static final int MOST_VERSIONS = 2;
    private static final int MOST_NOTE_BYTES = 1 << 16;

    private final String server;
    private final Path folder;
    private final Table table;
    private final Queue<Fetcher> idle = new ConcurrentLinkedQueue<>();
    /** The highest that has been heard of. Guarded by this. */
    private long term;

    private volatile ServerView view;

    /** A reader, and memory for what it reads. */
    private record Fetcher(Table.Reader reader, RowBatch rows) {}

    private TableNode(String server, Path folder, Table table) {
        this.server = server;
        this.folder = folder;
        this.table = table;
        // Above all of an earlier process: that has made less than 2^20 changes per millisecond.
        this.view = new ServerView(server, System.currentTimeMillis() << 20, Map.of());
    }

    /**
     * Opens what a server has of a table.
     *
     * @param server the server's name
     * @param folder of the table at this server; made if it is not there
     * @return to be closed
     * @throws IOException as {@link Table#open(Path)}
     */
    public static TableNode open(String server, Path folder) throws IOException {
        TableNode node = new TableNode(server, folder, Table.open(folder));
        boolean done = false;
        try {
            node.restore();
            done = true;
            return node;
        } finally {
            if (!done) {
                node.close();
            }
        }
    }

    private void restore() throws IOException {
        Map<Long, Served> versions = new HashMap<>();
        long current = table.current();
        for (long version : table.sealedVersions()) {
            if (version >= current && current != 0 && versions.size() < MOST_VERSIONS) {
                Served served = note(version);
                if (served != null) {
                    table.load(version);
                    versions.put(version, served);
                }
            }
        }
        show(versions);
    }

    private void show(Map<Long, Served> versions) {
        view = new ServerView(server, view.sequence() + 1, versions);
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
        if (versions.size() >= MOST_VERSIONS) {
            throw new IllegalStateException(
                    "versions " + versions.keySet() + " are here, which are as many as there can be");
        }
        if (!table.sealedVersions().contains(version)) {
            seal(version, served, source);
        } else if (!served.equals(note(version))) {
            throw new IllegalArgumentException(
                    "version " + version + " is in " + folder + " with other shards than " + served);
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
            if (Files.size(file) > MOST_NOTE_BYTES) {
                throw new NumberFormatException("too long");
            }
            List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
            Set<Integer> here = new HashSet<>();
            for (String line : lines.subList(1, lines.size())) {
                here.add(Integer.parseInt(line));
            }
            return new Served(Integer.parseInt(lines.getFirst().replace("shards ", "")), here);
        } catch (IllegalArgumentException | NoSuchElementException e) {
            throw new IOException(file + " does not say which shards a version has", e);
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
        show(versions);
        Files.deleteIfExists(noteFile(version));
        table.unload(version);
    }

    private void requireTerm(long fromTerm) {
        if (fromTerm < term) {
            throw new IllegalStateException(
                    "a coordinator of term " + term + " is in charge, not one of term " + fromTerm);
        }
        term = fromTerm;
    }

    /**
     * Fetches rows of one shard of one version, and uses them.
     *
     * @param version that they must be of
     * @param shards of the version
     * @param shard of these
     * @param keys of the shard
     * @param columns names of columns; all, if there are none
     * @param use is given the rows, which are as they are until it returns
     * @param <R> what is made of them
     * @return what is made of them, or null if that shard of that version is not here
     * @throws IllegalArgumentException if there is no column of a name, or a key is of another shard
     */
    <R> @Nullable R fetch(
            long version, int shards, int shard, long[] keys, List<String> columns, Function<RowBatch, R> use) {
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
        try {
            fetcher.reader.getAll(version, keys, fetcher.rows, columns);
            return use.apply(fetcher.rows);
        } catch (VersionGoneException unloadedMeanwhile) {
            return null;
        } finally {
            idle.add(fetcher);
        }
    }

    /** Ends it; fetches that are under way end first. */
    @Override
    public void close() {
        table.close();
    }
}
