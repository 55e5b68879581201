package io.github.roost.index.disk;

import static io.github.roost.io.BlockIo.BLOCK_BYTES;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.RejectedSearchException;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.TableUse;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.BlockReads;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Neighbors;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableFileException;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.MemoryLimit;
import io.github.roost.vector.spi.RecallEfforts;
import io.github.roost.vector.spi.RecallSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table larger than memory: a graph whose nodes, each a vector and its edges, lie on checksummed pages of a file, and codes of the
 * vectors in memory (Subramanya et al., "DiskANN", NeurIPS 2019). A search parks while its pages are read, and its worker
 * runs other tasks meanwhile. The effort of a search is the width of {@link DiskSearch},
 * by default the larger of 100 and 2 k.
 *
 * <pre>{@code
 * DiskTable.builder().build(orchestrator, io, file, ids, vectors);
 * DiskTable table = DiskTable.open(orchestrator, io, "products", file);
 * CompletableFuture<DiskAnswer> answer = table.search(query, DiskSearch.of(10, 64), SubmitOptions.DEFAULT);
 * }</pre>
 *
 * <p>Rows can be inserted and deleted: an update is written to a log, then applied to the graph as maintenance, in pieces of some
 * microseconds, and acknowledged when it is durable and visible to searches. Pages are never overwritten in place: a checkpoint
 * writes changed pages to free blocks. After any crash, a reopened table has every acknowledged update, and each other update as a
 * whole or not at all. Only one opener at a time, across processes, may update a table; other openers are refused.
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is reported in the log and in {@link #diskStats}; searches skip its
 * nodes and go on. Thread-safe.
 */
public final class DiskTable implements VectorTable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTable.class);
    private static final int MAX_DAMAGED = 1_000;
    /** 32 MiB of changed pages. */
    static final int DEFAULT_CHANGED_PAGES = 8_192;

    private static final int MIN_DEFAULT_WIDTH = 100;
    /** Rows used as queries to find the width for a target recall. */
    private static final int SAMPLE = 64;
    /** Constant, so that the same table gives the same effort. */
    private static final long SAMPLE_SEED = 42;

    /** How often a search that waits inside another one checks whether that has expired. */
    private static final long EXPIRY_LOOK_MILLIS = 1;

    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final DiskGraph graph;
    private final RowNodes nodes;
    private final @Nullable DiskUpdates updates;
    /** Null if the table was opened read-only. */
    private final @Nullable UpdateLock lock;

    private final RecallEfforts efforts;
    private final Registration registration;
    private final MemoryLimit limit = new MemoryLimit();
    /** Set when closing begins; the registration stays open until accepted updates are done, as they need it. */
    private final AtomicBoolean isClosing = new AtomicBoolean();

    /** 0 for the worker's own limit. */
    private volatile long sliceNanos;

    private volatile UpdateThread updateThread = UpdateThread.WORKERS;
    private volatile boolean prefetches;
    private final LongAdder searches = new LongAdder();
    private final LongAdder pagesRead = new LongAdder();
    private final LongAdder pagesInMemory = new LongAdder();
    private final LongAdder codesCompared = new LongAdder();
    private final LongAdder updatePagesRead = new LongAdder();
    private final LongAdder nodesExpanded = new LongAdder();
    private final LongAdder stalledNanos = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();
    private final ConcurrentSkipListSet<Integer> damaged = new ConcurrentSkipListSet<>();

    private DiskTable(
            Orchestrator orchestrator,
            BlockIo io,
            String name,
            DiskGraph graph,
            boolean isMutable,
            int maxChangedPages,
            int maxLogBlocks,
            @Nullable UpdateLock lock)
            throws IOException {
        this.lock = lock;
        this.orchestrator = orchestrator;
        this.efforts = new RecallEfforts(orchestrator, this::effortByOwnRows, this::size);
        this.io = io;
        this.file = graph.file();
        this.graph = graph;
        this.nodes = RowNodes.of(graph.codes());
        this.registration = orchestrator.register(name);
        try {
            this.updates = isMutable ? new DiskUpdates(this, io, nodes, maxChangedPages, maxLogBlocks) : null;
        } catch (Throwable failed) {
            registration.close();
            nodes.close();
            graph.codes().close();
            throw failed;
        }
    }

    /** {@return a builder with every option at its default} */
    public static DiskTableBuilder builder() {
        return new DiskTableBuilder();
    }

    /**
     * Opens a table for searches and updates: reads and checks its codes and ids, which stay in memory, and replays the updates
     * since its last checkpoint. Pages are checked when they are read. The table has two logs next to its file, with the
     * suffixes {@code .log0} and {@code .log1}, without which it is incomplete, and a file with the suffix {@code .lock}, which is
     * locked until the table is closed. {@link #openReadOnly} ignores the lock: a table that it opened reports pages as damaged once this one's
     * checkpoints have reused them.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, closed after the table
     * @param name the table's name in reports
     * @param path file that {@link DiskTableBuilder#build} wrote; nothing else may change it while the table is open
     * @return the table, to be closed
     * @throws IOException if a file cannot be read or written, or does not hold a complete table, or the table is open for updates
     *     already, in this process or another; the message names the file and the problem
     */
    public static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        return open(orchestrator, io, name, path, DEFAULT_CHANGED_PAGES, DiskUpdates.MAX_LOG_BLOCKS);
    }

    /** With numbers of changed pages and of blocks of the log at which a checkpoint begins. */
    static DiskTable open(
            Orchestrator orchestrator, BlockIo io, String name, Path path, int maxChangedPages, int maxLogBlocks)
            throws IOException {
        // So that a missing file is not created.
        io.open(path).close();
        UpdateLock lock = UpdateLock.take(path);
        try {
            return open(orchestrator, io, name, io.openForUpdate(path), true, maxChangedPages, maxLogBlocks, lock);
        } catch (Throwable failed) {
            close(lock, path);
            throw failed;
        }
    }

    /**
     * Opens a table read-only at its last checkpoint: later updates, which are in its logs, are not seen.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, closed after the table
     * @param name the table's name in reports
     * @param path file that {@link DiskTableBuilder#build} wrote; must not be changed while the table is open
     * @return the table, to be closed; not {@link #isMutable}
     * @throws IOException if the file cannot be read or does not hold a complete table; the message names the problem
     */
    public static DiskTable openReadOnly(Orchestrator orchestrator, BlockIo io, String name, Path path)
            throws IOException {
        return open(orchestrator, io, name, io.open(path), false, 0, 0, null);
    }

    private static DiskTable open(
            Orchestrator orchestrator,
            BlockIo io,
            String name,
            BlockFile file,
            boolean isMutable,
            int maxChangedPages,
            int maxLogBlocks,
            @Nullable UpdateLock lock)
            throws IOException {
        try {
            return new DiskTable(
                    orchestrator, io, name, DiskGraph.read(file), isMutable, maxChangedPages, maxLogBlocks, lock);
        } catch (Throwable failed) {
            file.close();
            throw failed;
        }
    }

    private static void close(@Nullable UpdateLock lock, Path path) {
        if (lock != null) {
            try {
                lock.close();
            } catch (IOException failed) {
                LOG.warn("the lock of {} was closed with an error: {}", path, failed.getMessage());
            }
        }
    }

    /**
     * Submits one search.
     *
     * @param query finite, of the table's dimension
     * @param how the parameters of the search
     * @param options deadline and priority
     * @return completes with the answer; with a {@link io.github.roost.core.DeadlineExceededException} if the deadline
     *     passes first, which is checked before each slice
     * @throws IllegalArgumentException if the query has another dimension, is not finite, or is zero for cosine
     * @throws RejectedSearchException if the overload policy rejects it
     * @throws TableClosedException if the table is closed
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    public CompletableFuture<DiskAnswer> search(float[] query, DiskSearch how, SubmitOptions options) {
        Vectors.require("query", query, dimension(), metric());
        requireOpen();
        BlockReads reads = io.reads();
        CompletableFuture<DiskAnswer> answer;
        try {
            DiskWalk walk = new DiskWalk(this, how, Space.of(metric(), query), reads);
            answer = orchestrator.indexing().submitSteps(walk::begin, walk, mappingId(), options);
        } catch (Throwable refused) {
            reads.close();
            throw refused;
        }
        // However the search ends, its reads are freed; reads in flight keep the file open by themselves.
        var _ = answer.whenComplete((result, failure) -> reads.close());
        return answer;
    }

    @Override
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check(request);
        requireOpen();
        orchestrator.indexing().requireOpen();
        return efforts.search(request, this::submit);
    }

    /** {@inheritDoc} Each search reads its own pages, so none waits for another. */
    @Override
    public List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests) {
        List<SearchRequest> all = SearchRequest.copyOf(requests);
        all.forEach(this::check);
        requireOpen();
        orchestrator.indexing().requireOpen();
        return all.stream().map(this::searchOrRefuse).toList();
    }

    private CompletableFuture<SearchResult> searchOrRefuse(SearchRequest request) {
        try {
            return efforts.search(request, this::submit);
        } catch (RuntimeException refused) {
            // Other searches have begun: the caller must get their futures.
            return CompletableFuture.failedFuture(refused);
        }
    }

    private void check(SearchRequest request) {
        Objects.requireNonNull(request, "request must not be null");
        Vectors.require("query", request.query(), dimension(), metric());
        how(request);
    }

    private static DiskSearch how(SearchRequest request) {
        return DiskSearch.of(request.k(), request.effortOr(defaultWidth(request.k())))
                .withFilter(request.filter())
                .withVisitLimit(request.visitLimit());
    }

    static int defaultWidth(int k) {
        return Math.max(MIN_DEFAULT_WIDTH, 2 * k);
    }

    private CompletableFuture<SearchResult> submit(SearchRequest request) {
        CompletableFuture<DiskAnswer> search = search(request.query(), how(request), request.options());
        return derived(search, answer -> {
            SearchCost cost = new SearchCost(answer.codesCompared(), answer.nodesExpanded());
            return new SearchResult(answer.neighbors().within(request.radius()), cost, answer.cutShort());
        });
    }

    /** A future of a result derived from a search's answer; cancelling it cancels the search. */
    private <R> CompletableFuture<R> derived(
            CompletableFuture<DiskAnswer> search, Function<? super DiskAnswer, ? extends R> result) {
        CompletableFuture<R> derived = orchestrator.indexing().newFuture();
        var _ = search.whenComplete((answer, failure) -> {
            if (failure == null) {
                derived.complete(result.apply(answer));
            } else {
                derived.completeExceptionally(failure);
            }
        });
        var _ = derived.whenComplete((answer, failure) -> search.cancel(false));
        return derived;
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, defaultWidth(k));
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k, int effort) {
        return derived(search(query, DiskSearch.of(k, effort), SubmitOptions.DEFAULT), DiskAnswer::neighbors);
    }

    /** {@inheritDoc} It submits a search and waits for it; a waiting worker runs other tasks. It fails once the context has expired. */
    @Override
    public SearchFunction<float[], Neighbors> searchFunction(int k, int effort) {
        DiskSearch how = DiskSearch.of(k, effort);
        return (query, context) -> await(search(query, how, SubmitOptions.DEFAULT), context);
    }

    private static Neighbors await(CompletableFuture<DiskAnswer> search, SearchContext context) throws Exception {
        while (true) {
            try {
                return search.get(EXPIRY_LOOK_MILLIS, TimeUnit.MILLISECONDS).neighbors();
            } catch (TimeoutException goesOn) {
                if (context.expired()) {
                    search.cancel(false);
                    throw new DeadlineExceededException();
                }
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof Exception cause ? cause : failed;
            }
        }
    }

    @Override
    public int effortFor(double recall, int k, float[][] sample) {
        RecallSample.require(recall, k, sample, dimension(), metric());
        requireOpen();
        orchestrator.indexing().requireOpen("a measurement");
        return Math.max(k, effort(recall, Math.clamp(size(), 1, k), sample));
    }

    private int effort(double recall, int k, float[][] sample) {
        IdentityHashMap<float[], Neighbors> nearest = new IdentityHashMap<>();
        try (var _ = use()) {
            Neighbors[] exact = new ExactScan(this).nearest(sample, k);
            for (int query = 0; query < sample.length; query++) {
                nearest.put(sample[query], exact[query]);
            }
        }
        RecallSample measured =
                new RecallSample(sample, query -> CompletableFuture.completedFuture(nearest.get(query)));
        return measured.minEffort(
                k,
                DiskSearch.MAX_WIDTH,
                recall,
                width -> query ->
                        derived(search(query, DiskSearch.of(k, width), SubmitOptions.BATCH), DiskAnswer::neighbors));
    }

    private int effortByOwnRows(double recall, int k) {
        int rows = size();
        float[][] sample;
        try (var _ = use()) {
            sample = new Random(SAMPLE_SEED)
                    .ints(0, graph.codes().nodes())
                    .distinct()
                    .limit(Math.min(SAMPLE, graph.codes().nodes()))
                    .filter(node -> graph.codes().state(node) == Codes.LIVE)
                    .mapToObj(node -> readVector(graph.codes().id(node)))
                    .filter(Objects::nonNull)
                    .toArray(float[][]::new);
        }
        if (sample.length == 0) {
            return defaultWidth(k);
        }
        return Math.max(
                k,
                RecallSample.effortByOwnRows(
                        recall, k, rows, (target, withItself) -> effort(target, withItself, sample)));
    }

    /** {@inheritDoc} Reads the row's page, blocking; also null if the page is damaged, which is logged. */
    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            return readVector(id);
        }
    }

    private float @Nullable [] readVector(long id) {
        int node;
        synchronized (nodes) {
            node = nodes.node(id);
        }
        if (node < 0) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            NodePage page = readPage(graph.layout().pageOf(node), arena.allocate(BLOCK_BYTES, BLOCK_BYTES));
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
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            for (int page = 0; page < graph.layout().pages(graph.codes().nodes()); page++) {
                // Before the page is read: nodes in use now are on it.
                BitSet used = graph.codes().used(page);
                NodePage read = readPage(page, memory);
                if (read == null || !read.isSound(used, graph.codes().nodes())) {
                    throw new TableFileException(
                            file.path(), (long) graph.block(page) * BLOCK_BYTES, "has a damaged page " + page);
                }
            }
        }
    }

    /** Reads the current version of a page, blocking; null if it is unusable. The caller must hold the table. */
    @Nullable
    NodePage readPage(int number, MemorySegment into) {
        try {
            while (true) {
                NodePage changed = graph.changed(number);
                int block = graph.block(number);
                if (changed != null) {
                    return changed;
                }
                if (block != BlockMap.NOWHERE) {
                    file.read(block, into);
                    NodePage page = new NodePage(graph.layout(), number, into);
                    if (page.isWhole()) {
                        return page;
                    }
                }
                if (!graph.hasMoved(number, block)) {
                    damaged(number, null);
                    return null;
                }
            }
        } catch (IOException failure) {
            damaged(number, failure);
            return null;
        }
    }

    DiskGraph graph() {
        return graph;
    }

    /** Null if the table was opened read-only. */
    @Nullable
    DiskUpdates updates() {
        return updates;
    }

    @Override
    public int minEffort(int k) {
        return k;
    }

    @Override
    public boolean isMutable() {
        return updates != null;
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #putLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; when the table is opened again, it may have the old row or the new one
     */
    @Override
    public boolean put(long id, float[] vector) {
        return wait(putLater(id, vector));
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #removeLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; when the table is opened again, it may have the row or not
     */
    @Override
    public boolean remove(long id) {
        return wait(removeLater(id));
    }

    /**
     * Inserts a row, or replaces the row of the same id. Updates of one id are applied in call order. Blocks only while about a
     * thousand updates are pending.
     *
     * @param id any
     * @param vector of the table's dimension, finite, not zero for cosine; copied
     * @return completes when the update is durable and visible to searches that begin afterwards, with whether there was no row of
     *     this id; or with an {@link UncheckedIOException}, as {@link #put} throws it
     * @throws io.github.roost.vector.TableFullException if codes and ids exceed the memory limit; nothing has changed
     */
    public CompletableFuture<Boolean> putLater(long id, float[] vector) {
        Vectors.require("vector", vector, dimension(), metric());
        return add(new Update(
                id, Space.of(metric(), vector), orchestrator.indexing().newFuture()));
    }

    /**
     * Removes a row. Updates of one id are applied in call order. Blocks only while about a thousand updates are pending.
     *
     * @param id external id
     * @return completes when the update is durable and searches that begin afterwards do not find the row, with whether there was
     *     one; or with an {@link UncheckedIOException}, as {@link #remove} throws it
     */
    public CompletableFuture<Boolean> removeLater(long id) {
        return add(new Update(id, null, orchestrator.indexing().newFuture()));
    }

    private CompletableFuture<Boolean> add(Update update) {
        DiskUpdates to = mutable();
        // Before it is logged: a closed orchestrator would not apply it, but reopening the table would.
        orchestrator.indexing().requireOpen("a change");
        if (update.vector() != null) {
            limit.admit(name(), this::memoryBytesWithMore);
        }
        to.add(update);
        return update.done();
    }

    private static boolean wait(CompletableFuture<Boolean> update) {
        try {
            return update.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : failed;
        }
    }

    /**
     * Writes the changes to the file, so that the table opens faster the next time: all updates that were acknowledged before the call. Happens
     * automatically when 32 MiB of pages have changed or the log has grown by 16 MiB, and when the table is closed.
     *
     * @return completes when the checkpoint is durable; with an {@link IOException} if it cannot be written: the updates are in the
     *     log, and the next checkpoint includes them
     */
    public CompletableFuture<Void> checkpoint() {
        return mutable().checkpoint();
    }

    private DiskUpdates mutable() {
        requireOpen();
        if (updates == null) {
            throw fixed();
        }
        return updates;
    }

    /** Submits the writer as maintenance. */
    CompletableFuture<Void> maintenance(DiskWriter writer) {
        return orchestrator.indexing().maintenance(mappingId(), writer);
    }

    /**
     * Sets how long updates run before their worker checks whether reads of searches have completed: updates that fill a stall
     * overrun it by at most about this time. In a long slice one update goes on until it is done or must wait, and no other begins.
     *
     * @param slice from a microsecond to a second, or zero for the worker's own limit, the default: 5 us, or the value of
     *     {@link io.github.roost.core.policy.StallPolicy}. Takes effect at once
     */
    public void updateSlice(Duration slice) {
        if (!slice.isZero()
                && (slice.compareTo(Duration.ofNanos(1_000)) < 0 || slice.compareTo(Duration.ofSeconds(1)) > 0)) {
            throw new IllegalArgumentException(
                    "the slice of updates must be zero or from a microsecond to a second, got " + slice);
        }
        sliceNanos = slice.toNanos();
    }

    /** Max time of a writer's step before other tasks have a turn. */
    long stepNanos(SearchContext context) {
        long fixed = sliceNanos;
        return fixed == 0 ? context.stepNanos() : fixed;
    }

    /**
     * Sets which thread applies updates. {@link UpdateThread#OWN_IDLE}, the operating system's own way to fill stalls, is for storage
     * that is slow compared with a context switch, and for workers that sleep while they wait.
     *
     * @param thread default {@link UpdateThread#WORKERS}; takes effect with the next step of an update
     */
    public void updateThread(UpdateThread thread) {
        updateThread = Objects.requireNonNull(thread, "update thread must not be null");
    }

    UpdateThread updateThread() {
        return updateThread;
    }

    /**
     * Sets whether a search that resumes after updates have run on its worker first reads its whole distance table again,
     * so that it comes back into the cache without a separate miss per line.
     *
     * @param value default false; takes effect for searches that begin afterwards
     */
    public void prefetch(boolean value) {
        prefetches = value;
    }

    boolean prefetches() {
        return prefetches;
    }

    BlockReads newReads() {
        return io.reads();
    }

    /** Called when a logged update failed: no more updates are taken, as they may depend on it. */
    void writerFailed(Throwable failure) {
        LOG.error("an update of {} failed; no more are taken", file.path(), failure);
        if (updates != null) {
            updates.fail(failure);
        }
    }

    /** Waits for room; a worker runs other tasks meanwhile. */
    void acquire(Semaphore room) {
        if (orchestrator.indexing().calledOnWorker()) {
            while (!room.tryAcquire()) {
                orchestrator.indexing().yieldToSearches();
            }
        } else {
            room.acquireUninterruptibly();
        }
    }

    private UnsupportedOperationException fixed() {
        return new UnsupportedOperationException("table " + name() + " was opened read-only");
    }

    /** {@inheritDoc} This table keeps its file; the copy is a table of its own, with the updates that were durable at the call. */
    @Override
    public void save(Path copy) throws IOException {
        Objects.requireNonNull(copy, "file must not be null");
        try (var _ = use()) {
            if (updates == null) {
                TableCopy.write(file, graph.root(), copy);
            } else {
                updates.save(copy);
            }
        }
    }

    private void requireOpen() {
        if (isClosing.get() || !registration.isOpen()) {
            throw new TableClosedException(name());
        }
    }

    /** Holds the table for this thread: its memory and its file stay until the hold is closed. */
    private TableUse.Hold use() {
        requireOpen();
        return registration.use().hold();
    }

    /** Counts a search that ended normally. */
    DiskAnswer ended(DiskAnswer answer) {
        searches.increment();
        pagesRead.add(answer.pagesRead());
        pagesInMemory.add(answer.pagesInMemory());
        codesCompared.add(answer.codesCompared());
        nodesExpanded.add(answer.nodesExpanded());
        stalledNanos.add(answer.stalledNanos());
        busyNanos.add(answer.busyNanos());
        return answer;
    }

    /** Called when a page cannot be used. */
    void damaged(int page, @Nullable IOException failure) {
        if (damaged.size() < MAX_DAMAGED && damaged.add(page)) {
            LOG.error(
                    "page {} of {} (byte {}) is left out of searches: {}",
                    page,
                    file.path(),
                    (long) graph.block(page) * BlockIo.BLOCK_BYTES,
                    failure == null ? "its checksum is wrong" : failure.getMessage());
        }
    }

    /** The distance that is reported for a squared distance in the table's space. */
    float reported(float squared) {
        return Space.reported(metric(), squared);
    }

    /** Counts a page read for an update. */
    void readForUpdate() {
        updatePagesRead.increment();
    }

    private DiskTableStats.Traffic traffic() {
        long read = (pagesRead.sum() + updatePagesRead.sum()) * DiskLayout.PAGE_BYTES;
        return new DiskTableStats.Traffic(
                codesCompared.sum() * graph.layout().codeBytes(),
                pagesInMemory.sum() * DiskLayout.PAGE_BYTES,
                file.isDirect() ? 0 : read,
                file.isDirect() ? read : 0);
    }

    private long memoryBytes() {
        synchronized (nodes) {
            long codes = graph.codes().bytes();
            return codes == 0 ? 0 : codes + nodes.bytes();
        }
    }

    /** Including all rows that may be pending. */
    private long memoryBytesWithMore() {
        synchronized (nodes) {
            return graph.codes().bytesWith(DiskUpdates.MAX_UNDER_WAY) + nodes.bytesWith(DiskUpdates.MAX_UNDER_WAY);
        }
    }

    /** {@inheritDoc} Covers codes and ids; vectors and edges are in the file. Inserts are refused a thousand rows below the limit. */
    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }

    /** {@return counts since the table was opened} */
    public DiskTableStats diskStats() {
        return new DiskTableStats(
                searches.sum(),
                pagesRead.sum(),
                pagesInMemory.sum(),
                codesCompared.sum(),
                updatePagesRead.sum(),
                nodesExpanded.sum(),
                stalledNanos.sum(),
                busyNanos.sum(),
                List.copyOf(damaged),
                traffic(),
                memoryBytes(),
                file.blocks() * BlockIo.BLOCK_BYTES,
                updates == null ? 0 : updates.writer().updates(),
                updates == null ? 0 : updates.writer().busyNanos(),
                updates == null ? 0 : updates.writer().pruneNanos(),
                updates == null ? 0 : updates.checkpoints(),
                graph.changed().size(),
                graph.dead(),
                updates == null ? 0 : updates.writer().takenOut());
    }

    @Override
    public String toString() {
        return stats().toString();
    }

    @Override
    public TableStats stats() {
        return new TableStats(name(), "disk", size(), dimension(), metric(), elementType(), 1, memoryBytes());
    }

    @Override
    public Registration registration() {
        return registration;
    }

    @Override
    public ElementType elementType() {
        return ElementType.FLOAT32;
    }

    @Override
    public String name() {
        return registration.name();
    }

    /** {@return the mapping id of searches of this table} */
    public MappingId mappingId() {
        return registration.id();
    }

    @Override
    public int size() {
        return graph.live();
    }

    @Override
    public int dimension() {
        return graph.layout().dimension();
    }

    @Override
    public Metric metric() {
        return graph.metric();
    }

    /** {@inheritDoc} Also waits for the accepted updates and for a checkpoint of them. */
    @Override
    public void close() {
        if (!isClosing.compareAndSet(false, true)) {
            orchestrator.indexing().awaitClosed(registration);
        } else if (orchestrator.indexing().calledOnWorker()) {
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
            }
        } finally {
            close(lock, file.path());
            orchestrator.indexing().closeTable(registration, this::free);
        }
    }

    private void free() {
        file.close();
        synchronized (nodes) {
            nodes.close();
            graph.codes().close();
        }
    }
}
