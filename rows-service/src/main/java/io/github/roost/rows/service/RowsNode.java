package io.github.roost.rows.service;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.io.BlockIo;
import io.github.roost.neighborhash.NeighborHashMap;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server's part of one table: shards of one or two versions, in a folder. Loaded versions are restored after a restart. Thread-safe; loads and
 * unloads wait for each other, fetches wait for neither.
 */
public final class RowsNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RowsNode.class);
    private static final int MAX_VERSIONS = 2;
    /** The maximum memory of a pooled fetcher: more is rarely needed, and there may be one fetcher per server thread. */
    private static final long MAX_KEPT_BYTES = 4 << 20;

    private static final int MAX_NOTE_BYTES = 1 << 16;
    private static final String SEQUENCE = "sequence";
    private static final String CONTENT = "content ";
    private static final Pattern DRAFT = Pattern.compile("\\.(shards-\\d{1,18}|" + SEQUENCE + ")-[0-9a-f-]+\\.part");

    private final String server;
    private final Path folder;
    private final VersionedRows table;
    /** Runs the searches that read rows from files; null if all values are in memory. */
    private final @Nullable Orchestrator orchestrator;

    private final Queue<Fetcher> idle = new ConcurrentLinkedQueue<>();
    /** Held while terms are compared and the view changes, never for longer. If both locks are taken, the lock of this is taken first. */
    private final Object showing = new Object();
    /** The highest known term. Guarded by {@link #showing}. */
    private long term;
    /** Written under {@link #showing}. */
    private volatile ServerView view;
    /** Guarded by {@link #showing}. */
    private final List<Consumer<ServerView>> watchers = new ArrayList<>();

    /** The version that is being loaded; null for none. Written under the lock of this. */
    private volatile @Nullable Loading loading;

    /** A version that takes memory before it is in the view. */
    private record Loading(long version, long bytes) {}

    /** A reader, and memory for the rows that it reads. */
    private record Fetcher(VersionedRows.Reader reader, RowBatch rows) {}

    private RowsNode(
            String server, Path folder, VersionedRows table, @Nullable Orchestrator orchestrator, long firstSequence) {
        this.server = server;
        this.folder = folder;
        this.table = table;
        this.orchestrator = orchestrator;
        this.view = new ServerView(server, firstSequence, Map.of());
    }

    /**
     * Opens a server's part of a table. A damaged version other than the current one is not served, and is logged.
     *
     * @param server the server's name
     * @param folder the table's folder at this server; created if it does not exist
     * @return the node; the caller closes it
     * @throws IOException as {@link VersionedRows#open(Path)}
     */
    public static RowsNode open(String server, Path folder) throws IOException {
        return open(server, folder, System::currentTimeMillis);
    }

    /**
     * Opens a server's part of a table whose values may exceed memory. Of each version, rows beyond {@code valueBytes} are read from its file on
     * request, as {@link VersionedRows.Builder#valueMemory} describes; a row that cannot be read is answered by another server that has its shard. A version
     * is still built in memory when it is loaded.
     *
     * @param server the server's name
     * @param folder the table's folder at this server; created if it does not exist
     * @param valueBytes the maximum memory for the values of each version, of which there may be two, 1 or more; a version whose longest row does not
     *     fit twice is not loaded
     * @param orchestrator runs the searches that read rows
     * @param io block I/O of that orchestrator; both are to be closed after the node
     * @return the node; the caller closes it
     * @throws IllegalArgumentException if {@code valueBytes} is less than 1, or too little for the current version's longest row
     * @throws IOException as {@link VersionedRows#open(Path)}
     */
    public static RowsNode open(String server, Path folder, long valueBytes, Orchestrator orchestrator, BlockIo io)
            throws IOException {
        return open(
                server,
                folder,
                System::currentTimeMillis,
                VersionedRows.builder(folder).valueMemory(valueBytes, orchestrator, io),
                orchestrator);
    }

    /** For tests with a clock that was set back. */
    static RowsNode open(String server, Path folder, LongSupplier clockMillis) throws IOException {
        return open(server, folder, clockMillis, VersionedRows.builder(folder), null);
    }

    private static RowsNode open(
            String server,
            Path folder,
            LongSupplier clockMillis,
            VersionedRows.Builder builder,
            @Nullable Orchestrator orchestrator)
            throws IOException {
        VersionedRows table = builder.open();
        boolean done = false;
        try {
            removeDrafts(folder);
            RowsNode node = new RowsNode(server, folder, table, orchestrator, firstSequence(folder, clockMillis));
            node.restore();
            done = true;
            return node;
        } finally {
            if (!done) {
                table.close();
            }
        }
    }

    /** Deletes temporary files that a killed process left. */
    private static void removeDrafts(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(RowsNode::isDraft).toList()) {
                Files.delete(file);
            }
        }
    }

    private static boolean isDraft(Path file) {
        return DRAFT.matcher(String.valueOf(file.getFileName())).matches();
    }

    /**
     * A sequence number above all numbers of earlier processes, which clients may still know. It follows from the clock, which works for a new
     * folder, too, and from the first number of the previous process, in case the clock was set back. This assumes fewer than 2^20 changes per
     * millisecond, and fewer than 2^32 between two starts.
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

    /** Loads a version as the second one. Returns null if it cannot be read, or its shards are unknown; the current version is served anyway. */
    private @Nullable Served loadBeside(long version) throws IOException {
        try {
            Served served = note(version);
            if (served != null) {
                table.load(version);
            }
            return served;
        } catch (FileFormatException damaged) {
            LOG.warn("version {} is damaged: it is not served until it has been reloaded", version, damaged);
            // Without the note, a coordinator's next load reads the version from its source.
            Files.deleteIfExists(noteFile(version));
        } catch (IOException | IllegalArgumentException | OutOfMemoryError e) {
            LOG.warn("version {} cannot be loaded, so it is not served", version, e);
        }
        return null;
    }

    private void show(Map<Long, Served> versions) {
        synchronized (showing) {
            view = new ServerView(server, view.sequence() + 1, versions);
            watchers.forEach(watcher -> watcher.accept(view));
        }
    }

    /** Tells a watcher, which must not block, the view now and whenever it has changed. */
    void watch(Consumer<ServerView> watcher) {
        synchronized (showing) {
            watchers.add(watcher);
            watcher.accept(view);
        }
    }

    void unwatch(Consumer<ServerView> watcher) {
        synchronized (showing) {
            watchers.remove(watcher);
        }
    }

    /**
     * The server's view of this table.
     *
     * @return the shards that it has now, by version
     */
    ServerView view() {
        return view;
    }

    /**
     * Loads shards of a version, unless they are loaded. Returns when they can be fetched: by clients for which no other content of the version counts,
     * as more servers have it.
     *
     * @param fromTerm the term of the coordinator that gives the order
     * @param version the version to load
     * @param served the shards to load, and their content; 0 for the content that the source has now
     * @param source the source of the rows
     * @throws IllegalStateException if a higher term is known, or two other versions are loaded
     * @throws IllegalArgumentException if the version is loaded with other shards or another content, or the source has another content
     * @throws IOException if the rows cannot be read, or written; the loaded versions are unchanged
     */
    public synchronized void load(long fromTerm, long version, Served served, RowSource source) throws IOException {
        requireTerm(fromTerm);
        Map<Long, Served> versions = new HashMap<>(view.versions());
        Served before = versions.get(version);
        if (before != null) {
            if (!before.hasShardsOf(served)) {
                throw new IllegalArgumentException(
                        "version " + version + " must have shards " + served + ", has " + before);
            }
            requireContent(version, served.content(), before.content(), "server " + server);
            requireContent(version, declared(source.snapshot(version)), before.content(), "server " + server);
            return;
        }
        if (versions.size() >= MAX_VERSIONS) {
            throw new IllegalStateException(
                    "versions " + versions.keySet() + " are here, which are as many as there can be");
        }
        loading = new Loading(version, 0);
        try {
            versions.put(version, sealAndLoad(version, served, source));
            show(versions);
        } finally {
            loading = null;
        }
    }

    private static long declared(@Nullable String snapshot) {
        return snapshot == null ? 0 : Content.of(snapshot);
    }

    /** @param wanted the content, 0 for any */
    private static void requireContent(long version, long wanted, long has, String who) {
        if (wanted != 0 && wanted != has) {
            throw new IllegalArgumentException("version " + version + " must have content " + Long.toHexString(wanted)
                    + ", " + who + " has " + Long.toHexString(has) + ": other rows need another version");
        }
    }

    private static boolean isWanted(long wanted, Served has) {
        return wanted == 0 || wanted == has.content();
    }

    private Served sealAndLoad(long version, Served served, RowSource source) throws IOException {
        boolean isSealed = table.sealedVersions().contains(version);
        Served sealed = isSealed ? note(version) : null;
        if (sealed == null
                || !sealed.hasShardsOf(served)
                || !isWanted(served.content(), sealed)
                || !isWanted(declared(source.snapshot(version)), sealed)) {
            // What is here has other shards or rows, or was half unloaded when the process was killed. It is not being
            // served.
            if (isSealed) {
                table.delete(version);
            }
            sealed = seal(version, served, source);
        }
        try {
            if (table.current() == 0) {
                table.publish(version);
            } else {
                table.load(version);
            }
        } catch (FileFormatException damaged) {
            // Without the note, the next load reads the version from its source.
            Files.deleteIfExists(noteFile(version));
            throw damaged;
        }
        return sealed;
    }

    private Served seal(long version, Served served, RowSource source) throws IOException {
        deleteUnserved();
        Served copied = copySealed(version, served, source);
        if (copied != null) {
            return copied;
        }
        Served changed = sealChanges(version, served, source);
        if (changed != null) {
            return changed;
        }
        String snapshot = source.snapshot(version);
        Schema schema = source.schema(version);
        Content content = snapshot == null ? new Content() : null;
        try (VersionBuilder building = table.begin(version, schema)) {
            source.load(
                    version,
                    snapshot == null ? all(served) : served,
                    new SourceRows(building, served, content, null, () -> count(building)));
            return seal(building, served, content == null ? declared(snapshot) : content.of(schema), snapshot, source);
        }
    }

    /** Copies a version's file, if its source has one. */
    private @Nullable Served copySealed(long version, Served served, RowSource source) throws IOException {
        String snapshot = source.snapshot(version);
        long content = declared(snapshot);
        Path file = content == 0 ? null : source.sealedFile(version, served);
        if (file == null) {
            return null;
        }
        requireContent(version, served.content(), content, "the source of server " + server);
        Served sealed = served.of(content);
        writeNote(version, sealed);
        table.copySealed(version, file);
        boolean isOfSnapshot = false;
        try {
            requireStill(snapshot, version, source);
            isOfSnapshot = true;
        } finally {
            if (!isOfSnapshot) {
                table.delete(version);
                Files.deleteIfExists(noteFile(version));
            }
        }
        return sealed;
    }

    /**
     * Makes a version of the current one and of what its source says has changed since. Returns null if the source does not know that, or its current
     * version is not the one here.
     */
    private @Nullable Served sealChanges(long version, Served served, RowSource source) throws IOException {
        String snapshot = source.snapshot(version);
        long from = table.current();
        if (snapshot == null
                || from >= version
                || !hasRowsFor(served, from, source)
                || !source.schema(version).equals(table.schema())) {
            return null;
        }
        try (VersionBuilder building = table.begin(version, table.schema());
                VersionedRows.Reader before = table.reader()) {
            SourceRows changes = new SourceRows(building, served, null, before, () -> count(building));
            if (!source.loadChanges(from, version, served, changes)) {
                if (!changes.isEmpty()) {
                    throw new IllegalStateException("the source must put no changes from version " + from + " to "
                            + version + " that it does not know, put " + changes.puts());
                }
                return null;
            }
            long kept = building.putOthersOfCurrent(changes::stays);
            LOG.info("version {}: {} rows from the source, {} of version {}", version, changes.puts(), kept, from);
            return seal(building, served, declared(snapshot), snapshot, source);
        } catch (RowBatch.ColdReadException damaged) {
            LOG.warn("version {} cannot be read, so that version {} is loaded whole", from, version, damaged);
            return null;
        }
    }

    /** Whether a version here has the rows of the shards, from the source's snapshot. */
    private boolean hasRowsFor(Served served, long from, RowSource source) throws IOException {
        Served has = view.versions().get(from);
        if (has == null || has.content() != declared(source.snapshot(from))) {
            return false;
        }
        boolean isWhole = has.here().size() == has.shards();
        boolean hasSame = has.shards() == served.shards() && has.here().containsAll(served.here());
        return isWhole || hasSame;
    }

    private void count(VersionBuilder building) {
        loading = new Loading(building.version(), building.memoryBytes());
    }

    private Served seal(
            VersionBuilder building, Served served, long content, @Nullable String snapshot, RowSource source)
            throws IOException {
        long version = building.version();
        count(building);
        requireStill(snapshot, version, source);
        requireContent(version, served.content(), content, "the source of server " + server);
        Served sealed = served.of(content);
        writeNote(version, sealed);
        building.seal();
        return sealed;
    }

    private static void requireStill(@Nullable String snapshot, long version, RowSource source) throws IOException {
        String now = source.snapshot(version);
        if (!Objects.equals(snapshot, now)) {
            throw new IOException("the source must stay at snapshot " + snapshot + " of version " + version
                    + " while it is read, is at " + now);
        }
    }

    private static Served all(Served served) {
        return new Served(
                served.shards(), IntStream.range(0, served.shards()).boxed().collect(Collectors.toSet()));
    }

    /**
     * Deletes versions whose load failed after they were sealed. Otherwise a restart might serve such a version instead of a version that
     * this server has reported.
     */
    private void deleteUnserved() throws IOException {
        for (long sealed : table.sealedVersions()) {
            if (sealed != table.current() && !view.versions().containsKey(sealed)) {
                table.delete(sealed);
                Files.deleteIfExists(noteFile(sealed));
            }
        }
    }

    /** Writes a version's shards to a file next to the version's, before the version is sealed. */
    private void writeNote(long version, Served served) throws IOException {
        StringBuilder note = new StringBuilder("shards " + served.shards() + "\n");
        served.here().stream().sorted().forEach(shard -> note.append(shard).append('\n'));
        note.append(CONTENT).append(Long.toHexString(served.content())).append('\n');
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
            long content = 0;
            for (String line : lines.subList(1, lines.size())) {
                if (line.startsWith(CONTENT)) {
                    content = Long.parseUnsignedLong(line.substring(CONTENT.length()), 16);
                } else {
                    here.add(Integer.parseInt(line));
                }
            }
            return new Served(Integer.parseInt(lines.getFirst().replace("shards ", "")), here, content);
        } catch (IllegalArgumentException | NoSuchElementException e) {
            FileFormatException damaged = new FileFormatException(file, 0, "does not say which shards a version has");
            damaged.initCause(e);
            throw damaged;
        }
    }

    /**
     * Unloads a version, if it is loaded, and deletes its files.
     *
     * @param fromTerm the term of the coordinator that gives the order
     * @param version the version to unload
     * @throws IllegalStateException if a higher term is known, or no other version is loaded
     * @throws IOException if the change of the current version cannot be written, and nothing has changed; or a file cannot be deleted
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
        // The view changes first; requests in progress that find the version unloaded give the same answer.
        synchronized (showing) {
            requireTerm(fromTerm);
            show(versions);
        }
        Files.deleteIfExists(noteFile(version));
        table.unload(version);
        table.delete(version);
    }

    /**
     * Records a coordinator's term. From now on orders of lower terms change nothing here, except that a load in progress completes.
     *
     * @return the highest known term
     */
    long hear(long fromTerm) {
        synchronized (showing) {
            term = Math.max(term, fromTerm);
            return term;
        }
    }

    long highestTerm() {
        synchronized (showing) {
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

    /** The memory in bytes of each version that is loaded, or being loaded. */
    Map<Long, Long> bytes() {
        // Read before the view: a version that has just been loaded is in one of them.
        Loading now = loading;
        Map<Long, Long> bytes = new HashMap<>();
        for (long version : view.versions().keySet()) {
            bytes.put(version, table.memoryBytes(version));
        }
        if (now != null) {
            bytes.putIfAbsent(now.version, now.bytes);
        }
        return bytes;
    }

    /** Whether {@link #fetch} may block while it reads rows from a file. */
    boolean readsFiles() {
        return orchestrator != null;
    }

    /**
     * Fetches rows of one shard of one version, and passes them to a function.
     *
     * @param version the version of the rows
     * @param shards the version's number of shards
     * @param shard the shard
     * @param keys keys of the shard
     * @param columns names of columns; all columns if empty
     * @param maxBytes the maximum size of the rows
     * @param timeout for how long rows may be read from files, more than 0
     * @param use receives the served version, and the rows, which are valid until it returns
     * @param <R> the type of its result
     * @return its result, or null if this node does not have the shard of the version
     * @throws IllegalArgumentException if a name is not a column, or a key is of another shard
     * @throws io.github.roost.rows.RowBatch.TooLargeException if the rows take more than {@code maxBytes}
     * @throws RowBatch.ColdReadException if a row cannot be read; an answer is never partial
     * @throws DeadlineExceededException if the timeout passes
     * @throws java.util.concurrent.RejectedExecutionException if the orchestrator rejects the search
     */
    <R> @Nullable R fetch(
            long version,
            int shards,
            int shard,
            long[] keys,
            List<String> columns,
            long maxBytes,
            Duration timeout,
            BiFunction<Served, RowBatch, R> use) {
        Served served = view.versions().get(version);
        if (served == null || served.shards() != shards || !served.here().contains(shard)) {
            return null;
        }
        for (long key : keys) {
            if (NeighborHashMap.shard(key, shards) != shard) {
                throw new IllegalArgumentException("keys must be of shard " + shard + ", got " + key);
            }
        }
        if (orchestrator != null) {
            RowBatch rows = search(orchestrator, version, keys, columns, maxBytes, timeout);
            return rows == null || !isStillServed(version, served) ? null : use.apply(served, rows);
        }
        Fetcher fetcher = idle.poll();
        if (fetcher == null) {
            fetcher = new Fetcher(table.reader(), RowBatch.onHeap());
        }
        boolean isKept = false;
        try {
            fetcher.rows.limitTo(maxBytes);
            fetcher.reader.getAll(version, keys, fetcher.rows, columns);
            isKept = fetcher.rows.memory().byteSize() <= MAX_KEPT_BYTES;
            return isStillServed(version, served) ? use.apply(served, fetcher.rows) : null;
        } catch (VersionedRows.VersionGoneException unloadedMeanwhile) {
            return null;
        } finally {
            if (isKept) {
                idle.add(fetcher);
            } else {
                fetcher.reader.close();
            }
        }
    }

    /** Whether the rows just read are of this content: another one is readable only after the view has lost this one. */
    private boolean isStillServed(long version, Served served) {
        Served now = view.versions().get(version);
        return now != null && now.content() == served.content();
    }

    /** Fetches rows in a search, which parks while some are read; the calling thread waits for it. Returns null if the version is gone. */
    private @Nullable RowBatch search(
            Orchestrator runs, long version, long[] keys, List<String> columns, long maxBytes, Duration timeout) {
        try {
            RowBatch rows = runs.indexing()
                    .submitSteps(
                            table.fetch(version, maxBytes, columns),
                            keys,
                            table.mappingId(),
                            SubmitOptions.DEFAULT.withTimeout(timeout))
                    .join();
            for (int i = 0; i < rows.size(); i++) {
                RowBatch.ColdReadException failure = rows.failure(i);
                if (failure != null) {
                    throw failure;
                }
            }
            return rows;
        } catch (CompletionException e) {
            if (e.getCause() instanceof VersionedRows.VersionGoneException) {
                return null;
            }
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            if (e.getCause() instanceof OutOfMemoryError failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** The number of pooled fetchers, for tests. */
    int idle() {
        return idle.size();
    }

    /** Closes the node, after fetches and loads in progress have ended. */
    @Override
    public synchronized void close() {
        table.close();
    }
}
