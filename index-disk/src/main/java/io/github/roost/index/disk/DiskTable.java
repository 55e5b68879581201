package io.github.roost.index.disk;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.TableUse;
import io.github.roost.index.disk.format.DiskFormats;
import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.Folders;
import io.github.roost.index.disk.format.NodePage;
import io.github.roost.index.disk.format.NodesById;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.index.disk.format.TableCopy;
import io.github.roost.index.disk.search.DiskSearch;
import io.github.roost.index.disk.search.PageReads;
import io.github.roost.index.disk.search.SearchCounts;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.index.disk.update.LogFiles;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.file.FileChecks;
import io.github.roost.vector.file.HeldFile;
import io.github.roost.vector.file.WholeFile;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.RecallSample;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A table larger than memory: a graph whose nodes, each a vector and its edges, lie on checksummed pages of a file, and codes of the
 * vectors in memory (Subramanya et al., "DiskANN", NeurIPS 2019). A search parks while its pages are read, and its worker
 * runs other tasks meanwhile. The effort of a search is its width, the number of nearest nodes that it keeps and reads, from k to 100,000, by
 * default the larger of 100 and 2 k. Each search reads its own pages, so none waits for another.
 *
 * <pre>{@code
 * DiskTable.builder().build(orchestrator, io, file, ids, vectors);
 * MutableDiskTable table = DiskTable.open(orchestrator, io, "products", file);
 * CompletableFuture<SearchResult> answer = table.search(query, 10);
 * }</pre>
 *
 * <p>A table that {@link #open} opened can be changed, see {@link MutableDiskTable}; one that {@link #openReadOnly} opened has a checkpoint, and
 * moves to a later one by {@link #refresh}.
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is reported in the log and in {@link #diskStats}; searches skip its
 * nodes and go on. Thread-safe.
 */
public sealed class DiskTable extends AbstractVectorTable permits MutableDiskTable {
    /** The format of tables on disk. */
    public static final TableFormat FORMAT = DiskFormats.TABLE;

    /** Max concurrent page reads of one search. */
    public static final int MAX_READS = PageReads.MAX;

    /** 32 MiB of changed pages. */
    static final int DEFAULT_CHANGED_PAGES = 8_192;

    private final BlockFile file;
    private final DiskSearch search;
    private final @Nullable DiskUpdates updates;
    /** Null if the file is in no folder. */
    private final @Nullable HeldFile held;
    /** Guards {@link #view} against other refreshes. */
    private final Object refreshing = new Object();

    private volatile View view;

    /** Set when closing begins; the registration stays open until accepted updates are done, as they need it. */
    private final AtomicBoolean isClosing = new AtomicBoolean();

    /**
     * What searches read: a checkpoint, and the changes since if the table is open for updates.
     *
     * @param nodes guarded by itself
     * @param isKept whether the blocks of the checkpoint stay as they are
     */
    private record View(DiskGraph graph, NodesById nodes, boolean isKept) {
        View(DiskGraph graph, boolean isKept) {
            this(graph, NodesById.of(graph.codes()), isKept);
        }
    }

    /** A view that stays whole until this is closed, though a refresh may put another in its place. */
    private record Reading(View view, ProductCodes codes) implements AutoCloseable {
        DiskGraph graph() {
            return view.graph();
        }

        @Override
        public void close() {
            codes.close();
        }
    }

    /** A checkpoint, and whether its blocks stay as they are. */
    private record Newest(Superblock root, boolean isKept) {}

    DiskTable(
            Orchestrator orchestrator,
            BlockIo io,
            String name,
            DiskGraph graph,
            boolean isKept,
            boolean isMutable,
            int maxChangedPages,
            int maxLogBlocks,
            @Nullable HeldFile held)
            throws IOException {
        super(
                orchestrator,
                orchestrator.register(name),
                graph.metric(),
                ElementType.FLOAT32,
                graph.layout().dimension());
        this.held = held;
        this.file = graph.file();
        this.view = new View(graph, isKept);
        this.search = new DiskSearch(orchestrator.indexing(), registration().id(), io);
        try {
            this.updates = isMutable
                    ? new DiskUpdates(
                            orchestrator.indexing(),
                            registration(),
                            io,
                            graph,
                            view.nodes(),
                            search.counts(),
                            held,
                            maxChangedPages,
                            maxLogBlocks)
                    : null;
        } catch (Throwable failed) {
            registration().close();
            throw failed;
        }
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Opens a table for searches and updates: reads and checks its codes and ids, which stay in memory, and replays the updates
     * since its last checkpoint. Pages are checked when they are read. The table has two logs next to its file, with the
     * suffixes {@code .log0} and {@code .log1}, without which it is incomplete until it is closed. Its file is locked until then, by whatever name it
     * was opened. {@link #openReadOnly} ignores the lock; checkpoints that such tables have keep their space in the file.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, closed after the table
     * @param name the table's name in reports
     * @param path file that {@link Builder#build} wrote; nothing else may change it while the table is open
     * @return the table, to be closed
     * @throws IOException if a file cannot be read or written, or does not hold a complete table, or the table is open for updates
     *     already, in this process or another; the message names the file and the problem
     */
    public static MutableDiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path)
            throws IOException {
        return open(orchestrator, io, name, path, DEFAULT_CHANGED_PAGES, DiskUpdates.MAX_LOG_BLOCKS);
    }

    /** With numbers of changed pages and of blocks of the log at which a checkpoint begins. */
    static MutableDiskTable open(
            Orchestrator orchestrator, BlockIo io, String name, Path path, int maxChangedPages, int maxLogBlocks)
            throws IOException {
        Path place = place(orchestrator, io, name, path);
        // So that nothing is created next to a file that is no table.
        try (BlockFile file = io.open(place)) {
            DiskGraph.requireTable(file);
        }
        HeldFile held = Folders.hold(place);
        try {
            return opened(
                    io.openForUpdate(place),
                    file -> new Newest(DiskGraph.root(file), true),
                    (graph, isKept) ->
                            new MutableDiskTable(orchestrator, io, name, graph, maxChangedPages, maxLogBlocks, held));
        } catch (Throwable failed) {
            close(held);
            throw failed;
        }
    }

    /** Checks the arguments; returns the file without links, since the logs are next to it. */
    private static Path place(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        Objects.requireNonNull(orchestrator, "orchestrator must not be null");
        Objects.requireNonNull(io, "io must not be null");
        Objects.requireNonNull(name, "name must not be null");
        Objects.requireNonNull(path, "path must not be null");
        new FileChecks(path).requireRegular();
        return Files.isSymbolicLink(path) && Files.exists(path) ? path.toRealPath() : path;
    }

    /** Makes a table of a graph, which the caller closes if it fails. */
    @FunctionalInterface
    private interface Making<T> {
        T of(DiskGraph graph, boolean isKept) throws IOException;
    }

    /** Finds the checkpoint to open. */
    @FunctionalInterface
    private interface Choice {
        Newest in(BlockFile file) throws IOException;
    }

    private static <T> T opened(BlockFile file, Choice choice, Making<T> making) throws IOException {
        try {
            Newest newest = choice.in(file);
            DiskGraph graph = DiskGraph.read(file, newest.root());
            try {
                return making.of(graph, newest.isKept());
            } catch (Throwable failed) {
                graph.codes().close();
                throw failed;
            }
        } catch (Throwable failed) {
            file.close();
            throw failed;
        }
    }

    /**
     * Opens a table read-only at its last checkpoint: later updates are not seen before {@link #refresh}. Any number of openers, in this process and
     * others, may read while one updates the table, which leaves alone the space of checkpoints that they have. (Where the system or the file system has no
     * locks of descriptors it does not, and pages that are overwritten look damaged.)
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, closed after the table
     * @param name the table's name in reports
     * @param path file that {@link Builder#build} wrote, which need not be writable
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or does not hold a complete table; the message names the problem
     */
    public static DiskTable openReadOnly(Orchestrator orchestrator, BlockIo io, String name, Path path)
            throws IOException {
        Path place = place(orchestrator, io, name, path);
        HeldFile held = Folders.read(place);
        try {
            return opened(
                    io.open(place),
                    file -> keepNewest(file, held),
                    (graph, isKept) -> new DiskTable(orchestrator, io, name, graph, isKept, false, 0, 0, held));
        } catch (Throwable failed) {
            close(held);
            throw failed;
        }
    }

    /**
     * Keeps the newest checkpoint from being overwritten. One that is still the newest after it was kept was kept before the writer looked for
     * readers, since it looks when the next one is durable.
     */
    private static Newest keepNewest(BlockFile file, @Nullable HeldFile readers) throws IOException {
        while (true) {
            Superblock root = DiskGraph.root(file);
            boolean isKept = readers != null && readers.keep(root.sequence());
            boolean isNewest = false;
            try {
                file.countBlocks();
                isNewest = DiskGraph.root(file).sequence() == root.sequence();
            } finally {
                if (!isNewest) {
                    giveBack(readers, root.sequence());
                }
            }
            if (isNewest) {
                return new Newest(root, isKept);
            }
        }
    }

    /**
     * Moves a table that was opened read-only to the last checkpoint of its file, with all updates that the updating process had acknowledged when that
     * began. Searches that began before end on the earlier checkpoint, so for a while both take memory. Blocks while codes and ids are read.
     *
     * @return whether there was a later checkpoint; false if this table is open for updates, and so has them all
     * @throws IOException if the file cannot be read, or another has taken its place: the table stays as it was
     */
    public boolean refresh() throws IOException {
        try (var _ = use()) {
            return updates == null && refreshFrom(held);
        }
    }

    private boolean refreshFrom(@Nullable HeldFile readers) throws IOException {
        synchronized (refreshing) {
            if (readers != null && readers.isReplaced()) {
                throw new IOException(
                        file.path() + " is another file than table " + name() + " has open: open it again");
            }
            View before = view;
            long had = before.graph().root().sequence();
            if (DiskGraph.root(file).sequence() == had) {
                return false;
            }
            Newest newest = keepNewest(file, readers);
            long sequence = newest.root().sequence();
            try {
                view = new View(DiskGraph.read(file, newest.root()), newest.isKept());
            } catch (Throwable failed) {
                giveBack(readers, sequence);
                throw failed;
            }
            before.graph().codes().replaced(() -> giveBack(readers, had));
            return true;
        }
    }

    private static void giveBack(@Nullable HeldFile readers, long sequence) {
        if (readers != null) {
            readers.giveBack(sequence);
        }
    }

    /** The current view; the caller must hold the table. */
    @SuppressWarnings("ReferenceEquality") // whether it is still the same one
    private Reading read() {
        while (true) {
            View now = view;
            ProductCodes codes = now.graph().tryEnterCodes();
            if (codes != null) {
                return new Reading(now, codes);
            }
            if (now == view) {
                throw new TableClosedException(name());
            }
        }
    }

    private static void close(@Nullable HeldFile held) {
        if (held != null) {
            held.close();
        }
    }

    @Override
    protected int defaultEffort(int k) {
        return DiskSearch.defaultWidth(k);
    }

    @Override
    protected String effortName() {
        return "width";
    }

    /**
     * Sets how searches read pages.
     *
     * @param max max concurrent reads of one search, from 1 to {@link #MAX_READS}; default 4
     * @param mode how a search waits for them; default {@link ReadMode#BEAM}. Takes effect for searches that begin afterwards
     */
    public void pageReads(int max, ReadMode mode) {
        Objects.requireNonNull(mode, "mode must not be null");
        search.pageReads(new PageReads(max, mode == ReadMode.PIPELINED));
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        // Until it has entered the codes, which are freed with the table.
        try (var _ = use()) {
            Reading now = read();
            return search.submit(now.graph(), now.codes(), request);
        }
    }

    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        IdentityHashMap<float[], SearchResult> nearest = new IdentityHashMap<>();
        try (var _ = use();
                Reading now = read()) {
            SearchResult[] exact = DiskSearch.nearest(now.graph(), now.codes(), sample, k, () -> false);
            for (int query = 0; query < sample.length; query++) {
                nearest.put(sample[query], exact[query]);
            }
        }
        RecallSample measured =
                new RecallSample(sample, query -> CompletableFuture.completedFuture(nearest.get(query)));
        return measured.minEffort(
                k,
                Vectors.MAX_EF,
                recall,
                width ->
                        query -> submit(SearchRequest.of(query, k).effort(width).options(SubmitOptions.BATCH)));
    }

    @Override
    protected SearchResult exact(SearchRequest request, SearchContext context) {
        try (var _ = use();
                Reading now = read()) {
            float[][] query = {request.query()};
            return DiskSearch.nearest(now.graph(), now.codes(), query, request.k(), context::expired)[0];
        }
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        try (Reading now = read()) {
            ProductCodes codes = now.codes();
            return chooseRows(codes.nodes(), count, random)
                    .filter(node -> codes.state(node) == ProductCodes.LIVE)
                    .mapToObj(node -> readVector(codes.id(node)))
                    .filter(Objects::nonNull)
                    .toArray(float[][]::new);
        }
    }

    /** {@inheritDoc} Reads the row's page, blocking; also null if the page is damaged, which is logged. */
    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            return readVector(id);
        }
    }

    private float @Nullable [] readVector(long id) {
        try (Reading now = read();
                Arena arena = Arena.ofConfined()) {
            DiskGraph graph = now.graph();
            NodesById nodes = now.view().nodes();
            int node;
            synchronized (nodes) {
                // Inside, so that no row is added to later codes meanwhile.
                try (ProductCodes codes = graph.enterCodes()) {
                    node = nodes.get(codes, id);
                }
            }
            if (node < 0) {
                return null;
            }
            NodePage page = graph.read(graph.layout().pageOf(node), arena.allocate(BLOCK_BYTES, BLOCK_BYTES));
            if (page == null || !page.isSound(node, graph.codes().nodes()) || page.id(node) != id) {
                return null;
            }
            float[] vector = new float[dimension()];
            page.vector(node, vector);
            return vector;
        }
    }

    /** {@inheritDoc} Reads the current version of every page once; updates go on meanwhile. */
    @Override
    public void verify() throws IOException {
        try (var _ = use();
                Reading now = read();
                Arena arena = Arena.ofConfined()) {
            DiskGraph graph = now.graph();
            MemorySegment memory = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            for (int page = 0; page < graph.layout().pages(graph.codes().nodes()); page++) {
                // Before the page is read: nodes in use now are on it.
                BitSet used;
                try (ProductCodes codes = graph.enterCodes()) {
                    used = codes.used(page);
                }
                NodePage read = graph.read(page, memory);
                if (read == null || !read.isSound(used, graph.codes().nodes())) {
                    throw new FileFormatException(
                            file.path(), (long) graph.block(page) * BLOCK_BYTES, "has a damaged page " + page);
                }
            }
        }
    }

    DiskGraph graph() {
        return view.graph();
    }

    /** Null if the table was opened read-only. */
    @Nullable
    DiskUpdates updates() {
        return updates;
    }

    /**
     * Sets whether a search that resumes after updates have run on its worker first reads its whole distance table again,
     * so that it comes back into the cache without a separate miss per line.
     *
     * @param value default false; takes effect for searches that begin afterwards
     */
    public void prefetch(boolean value) {
        search.prefetch(value);
    }

    /**
     * {@inheritDoc} This table keeps its file; the copy is a table of its own, with the updates that were durable at the call.
     *
     * @throws IOException if the copy cannot be written, or is the file or a log of this table or of one that is open for updates: updates would
     *     be lost
     * @throws io.github.roost.core.OrchestratorClosedException if the table is open for updates, whose checkpoint workers write, and the
     *     orchestrator is closed
     */
    @Override
    public void save(Path copy) throws IOException {
        Objects.requireNonNull(copy, "file must not be null");
        try (var _ = use()) {
            Path own = file.path();
            WholeFile.requireOther(copy, List.of(own, LogFiles.pathOf(own, 0), LogFiles.pathOf(own, 1)));
            if (updates == null) {
                try (Reading now = read()) {
                    TableCopy.write(file, now.graph().root(), now.view().isKept(), copy);
                }
            } else {
                requireOpen("the checkpoint of a save");
                updates.save(copy);
            }
        }
    }

    @Override
    protected void requireOpen() {
        if (isClosing.get()) {
            throw new TableClosedException(name());
        }
        super.requireOpen();
    }

    @Override
    protected TableUse.Hold use() {
        requireOpen();
        return super.use();
    }

    private Stats.Traffic traffic() {
        SearchCounts counts = search.counts();
        long read = (counts.pagesRead() + counts.updatePagesRead()) * DiskLayout.PAGE_BYTES;
        return new Stats.Traffic(
                counts.codesCompared() * graph().layout().codeBytes(),
                counts.pagesInMemory() * DiskLayout.PAGE_BYTES,
                file.isDirect() ? 0 : read,
                file.isDirect() ? read : 0);
    }

    private long memoryBytes() {
        View now = view;
        synchronized (now.nodes()) {
            long codes = now.graph().codes().bytes();
            return codes == 0 ? 0 : codes + now.nodes().bytes();
        }
    }

    /** Including all rows that may be pending. */
    long memoryBytesWithMore() {
        View now = view;
        synchronized (now.nodes()) {
            return now.graph().codes().bytesWith(DiskUpdates.MAX_UNDER_WAY)
                    + now.nodes().bytesWith(DiskUpdates.MAX_UNDER_WAY);
        }
    }

    /** {@return counts since the table was opened} */
    public Stats diskStats() {
        SearchCounts counts = search.counts();
        return new Stats(
                counts.searches(),
                counts.pagesRead(),
                counts.pagesInMemory(),
                counts.codesCompared(),
                counts.updatePagesRead(),
                counts.nodesExpanded(),
                counts.stalledNanos(),
                counts.busyNanos(),
                graph().damagedPages(),
                traffic(),
                memoryBytes(),
                file.blocks() * BLOCK_BYTES,
                updates == null ? 0 : updates.obsoleteBlocks() * BLOCK_BYTES,
                updates == null ? 0 : updates.writer().updates(),
                updates == null ? 0 : updates.writer().busyNanos(),
                updates == null ? 0 : updates.writer().pruneNanos(),
                updates == null ? 0 : updates.checkpoints(),
                graph().changed().size(),
                graph().dead(),
                updates == null ? 0 : updates.writer().takenOut());
    }

    @Override
    public TableStats stats() {
        return new TableStats(name(), "disk", size(), dimension(), metric(), elementType(), 1, memoryBytes(), recall());
    }

    /** {@return the mapping id of searches of this table} */
    public MappingId mappingId() {
        return registration().id();
    }

    @Override
    public int size() {
        return graph().live();
    }

    /** {@inheritDoc} Also waits for the accepted updates and for a checkpoint of them. */
    @Override
    public void close() {
        if (!isClosing.compareAndSet(false, true)) {
            orchestrator().indexing().awaitClosed(registration());
        } else if (orchestrator().indexing().calledOnWorker()) {
            // The pending updates may need this worker.
            Thread.ofVirtual().name("roost-disk-close").start(this::closeFirst);
        } else {
            closeFirst();
        }
    }

    private void closeFirst() {
        try {
            if (updates != null) {
                updates.close();
                close(held);
            }
        } finally {
            super.close();
        }
    }

    @Override
    protected void free() {
        file.close();
        View last = view;
        synchronized (last.nodes()) {
            last.graph().codes().close();
        }
        // Checkpoints are read until now.
        close(held);
    }

    /**
     * Counts of a table since it was opened; searches that failed or were cancelled are not counted.
     *
     * @param searches number of searches
     * @param pagesRead pages of 4 KiB that searches read
     * @param pagesInMemory changed pages that searches took from memory
     * @param codesCompared codes that searches compared with their queries
     * @param updatePagesRead pages of 4 KiB that updates read
     * @param nodesExpanded nodes whose vectors and neighbors searches read
     * @param stalledNanos time that searches were parked
     * @param busyNanos time that their slices ran
     * @param damagedPages numbers of damaged pages found so far, ascending, at most 1,000
     * @param traffic bytes read by searches and updates, by tier
     * @param memoryBytes bytes of codes, ids and the table that finds a row by its id
     * @param fileBytes bytes of the file
     * @param obsoleteBytes the part of it that only earlier checkpoints have, until no reader has them
     * @param updates inserts, replacements and deletes done
     * @param updateNanos time that they ran, without waits
     * @param pruneNanos the part of it spent choosing neighbors
     * @param checkpoints number of checkpoints written
     * @param changedPages pages changed since the last checkpoint, on the heap
     * @param deletedNodes nodes of deleted rows that are still in the graph
     * @param takenOut nodes of deleted rows that repairs have removed from the graph; those of the running pass are counted in proportion
     *     to its progress
     */
    public record Stats(
            long searches,
            long pagesRead,
            long pagesInMemory,
            long codesCompared,
            long updatePagesRead,
            long nodesExpanded,
            long stalledNanos,
            long busyNanos,
            List<Integer> damagedPages,
            Traffic traffic,
            long memoryBytes,
            long fileBytes,
            long obsoleteBytes,
            long updates,
            long updateNanos,
            long pruneNanos,
            long checkpoints,
            int changedPages,
            int deletedNodes,
            double takenOut) {
        /**
         * Bytes read, by where they were.
         *
         * @param codes in memory, codes that searches compared with their queries
         * @param changedPages in memory, pages that searches took from memory
         * @param pageCache read through the system's page cache, which may have held them or not
         * @param device read from the device with direct I/O
         */
        public record Traffic(long codes, long changedPages, long pageCache, long device) {}

        /** {@return the share of the searches' time spent waiting for reads, from 0 to 1} */
        public double stalledShare() {
            return (double) stalledNanos / Math.max(1, stalledNanos + busyNanos);
        }
    }

    /** How a search of a table on disk waits for its reads. */
    public enum ReadMode {
        /** Reads some pages and waits for all of them (Subramanya et al., "DiskANN", NeurIPS 2019): fewest pages per search. */
        BEAM,
        /**
         * Keeps reads in flight while it processes completed ones, first few and then more (Guo and Lu, "Achieving Low-Latency Graph-Based Vector
         * Search", OSDI 2025): some more pages per search, at lower latency.
         */
        PIPELINED
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder extends DiskTableBuilder {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }
    }
}
