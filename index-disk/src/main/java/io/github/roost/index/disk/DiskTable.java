package io.github.roost.index.disk;

import static io.github.roost.core.io.BlockIo.BLOCK_BYTES;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.core.task.TableUse;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.MemoryLimit;
import io.github.roost.core.vector.RecallEfforts;
import io.github.roost.core.vector.RecallSample;
import io.github.roost.core.vector.SearchCost;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.TableStats;
import io.github.roost.core.vector.VectorTable;
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
 * A table larger than memory: a graph whose nodes, vectors and edges together, lie on checksummed pages of a file, and codes of the
 * vectors in memory (Subramanya et al., "DiskANN", NeurIPS 2019). A search parks while its pages are read, and its worker
 * does something else meanwhile. The effort of a search is the width of {@link DiskSearch},
 * by default the larger of 100 and 2 k.
 *
 * <pre>{@code
 * DiskTable.builder().build(orchestrator, io, file, ids, vectors);
 * DiskTable table = DiskTable.open(orchestrator, io, "products", file);
 * CompletableFuture<DiskAnswer> answer = table.search(query, DiskSearch.of(10, 64), SubmitOptions.DEFAULT);
 * }</pre>
 *
 * <p>Rows are inserted and deleted: an update is written to a log, then done in the graph as maintenance, in pieces of some
 * microseconds, and acknowledged when it is durable and searches see it. Pages are never written in place: a checkpoint writes those
 * that have changed to free blocks. Whatever ends the process, a table that is opened again has every update that was acknowledged,
 * and of the others each whole or not at all. One opener at a time, of all processes, may update a table; others are refused.
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is said in the log and in {@link #diskStats}; searches leave its nodes out
 * and go on without them. Thread-safe.
 */
public final class DiskTable implements VectorTable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTable.class);
    private static final int MAX_DAMAGED = 1_000;
    /** 32 MiB of changed pages. */
    private static final int DEFAULT_CHANGED_PAGES = 8_192;

    private static final int MIN_DEFAULT_WIDTH = 100;
    /** Rows that are queries where a search asks for a recall. */
    private static final int SAMPLE = 64;
    /** The same rows each time, so that the same table gives the same effort. */
    private static final long SAMPLE_SEED = 42;

    /** How often a search that waits inside another one looks whether that is still wanted. */
    private static final long EXPIRY_LOOK_MILLIS = 1;

    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final DiskGraph graph;
    private final RowNodes nodes;
    private final @Nullable DiskUpdates updates;
    /** Null where it was opened for searches alone. */
    private final @Nullable UpdateLock lock;

    private final RecallEfforts efforts = new RecallEfforts(this::effortByOwnRows, this::size);
    private final Registration registration;
    private final MemoryLimit limit = new MemoryLimit();
    /** Set by who closes the table, before the updates that were accepted are waited for: these need the registration open. */
    private final AtomicBoolean isClosing = new AtomicBoolean();

    /** 0 for as long as the worker says. */
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
            int mostChangedPages,
            @Nullable UpdateLock lock)
            throws IOException {
        this.lock = lock;
        this.orchestrator = orchestrator;
        this.io = io;
        this.file = graph.file();
        this.graph = graph;
        this.nodes = RowNodes.of(graph.codes());
        this.registration = orchestrator.register(name);
        try {
            this.updates = isMutable ? new DiskUpdates(this, io, nodes, mostChangedPages) : null;
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
     * Opens a table for searches and updates: reads its codes and ids into memory and checks them, and does again the updates that
     * came after its last checkpoint. Pages are checked as they are read. Keeps two logs beside the file, of its name with
     * {@code .log0} and {@code .log1} behind it, without which it is not whole, and a file {@code .lock}, whose lock it holds until it is
     * closed. It may be opened for searches alone meanwhile.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, open for as long as the table
     * @param name under which the table shows in reports
     * @param path file that {@link DiskTableBuilder#build} has written; nothing else may change it while the table is open
     * @return the table, to be closed
     * @throws IOException if a file cannot be read or written, or holds no whole table, or the table is open for updates already, in
     *     this process or another; the message says what is wrong where
     */
    public static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        return open(orchestrator, io, name, path, DEFAULT_CHANGED_PAGES);
    }

    /** With so many changed pages before a checkpoint. */
    static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path, int mostChangedPages)
            throws IOException {
        // So that a file that is not there is not made.
        io.open(path).close();
        UpdateLock lock = UpdateLock.take(path);
        try {
            return open(orchestrator, io, name, io.openForUpdate(path), true, mostChangedPages, lock);
        } catch (Throwable failed) {
            close(lock, path);
            throw failed;
        }
    }

    /**
     * Opens a table for searches alone, as its last checkpoint left it: updates after it, which are in its logs, are not seen.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, open for as long as the table
     * @param name under which the table shows in reports
     * @param path file that {@link DiskTableBuilder#build} has written; it must not be changed while the table is open
     * @return the table, to be closed; not {@link #isMutable}
     * @throws IOException if the file cannot be read or holds no whole table; the message says what is wrong where
     */
    public static DiskTable openReadOnly(Orchestrator orchestrator, BlockIo io, String name, Path path)
            throws IOException {
        return open(orchestrator, io, name, io.open(path), false, 0, null);
    }

    private static DiskTable open(
            Orchestrator orchestrator,
            BlockIo io,
            String name,
            BlockFile file,
            boolean isMutable,
            int mostChangedPages,
            @Nullable UpdateLock lock)
            throws IOException {
        try {
            return new DiskTable(orchestrator, io, name, DiskGraph.read(file), isMutable, mostChangedPages, lock);
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
     * @param how to search
     * @param options how to treat it
     * @return completes with what was found; with a {@link io.github.roost.core.task.DeadlineExceededException} where the deadline
     *     passes before, which is looked at whenever pages have come
     * @throws IllegalArgumentException if the query is not as said
     * @throws RejectedSearchException if the overload policy rejects it
     * @throws TableClosedException if the table is closed
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed
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
        // Whatever ends the search frees its reads; those under way keep the file open by themselves.
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

    /** {@inheritDoc} Each reads pages of its own, so that none waits for another. */
    @Override
    public List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests) {
        List<SearchRequest> all = List.copyOf(requests);
        all.forEach(this::check);
        requireOpen();
        orchestrator.indexing().requireOpen();
        return all.stream().map(this::searchOrRefuse).toList();
    }

    private CompletableFuture<SearchResult> searchOrRefuse(SearchRequest request) {
        try {
            return efforts.search(request, this::submit);
        } catch (RuntimeException refused) {
            // Others have begun: the caller must get their futures.
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

    /** What is made of a search's answer; cancelling it cancels the search. */
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

    /** {@inheritDoc} It submits a search and waits for it, in which a worker runs other tasks; it ends when the context has expired. */
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
        RecallSample.requireRecall(recall);
        DiskSearch.of(k, k);
        if (sample.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int query = 0; query < sample.length; query++) {
            Vectors.require("query " + query, sample[query], dimension(), metric());
        }
        requireOpen();
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
        return measured.leastEffort(
                k,
                DiskSearch.MAX_WIDTH,
                recall,
                width -> query ->
                        derived(search(query, DiskSearch.of(k, width), SubmitOptions.BATCH), DiskAnswer::neighbors));
    }

    /** By rows as queries: each finds itself too, so one neighbour more is looked for, which every search finds. */
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
        int withItself = Math.min(Math.min(k + 1, Vectors.MAX_NEIGHBORS), rows);
        double target = (recall * (withItself - 1) + 1) / withItself;
        return Math.max(k, effort(target, withItself, sample));
    }

    /** {@inheritDoc} Reads its page, for which it waits; null also where the page is damaged, which is logged. */
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

    /** {@inheritDoc} Reads every page once, as it is now; changes go on meanwhile. */
    @Override
    public void verify() throws IOException {
        try (var _ = use();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(BLOCK_BYTES, BLOCK_BYTES);
            for (int page = 0; page < graph.layout().pages(graph.codes().nodes()); page++) {
                // Taken before the page: whoever is in use then is on it.
                BitSet used = graph.codes().used(page);
                NodePage read = readPage(page, memory);
                if (read == null || !read.isSound(used, graph.codes().nodes())) {
                    throw new TableFileException(
                            file.path(), (long) graph.block(page) * BLOCK_BYTES, "has a damaged page " + page);
                }
            }
        }
    }

    /** A page as it is now, which it waits for; null where it cannot be used. By who uses the table. */
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

    /** Null where it was opened for searches alone. */
    @Nullable
    DiskUpdates updates() {
        return updates;
    }

    @Override
    public boolean isMutable() {
        return updates != null;
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #putLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; the row may be the old one or the new one when the table is opened again
     */
    @Override
    public boolean put(long id, float[] vector) {
        return wait(putLater(id, vector));
    }

    /**
     * {@inheritDoc} Waits until the update is durable; {@link #removeLater} does not.
     *
     * @throws UncheckedIOException if it cannot be written; the row may be there or not when the table is opened again
     */
    @Override
    public boolean remove(long id) {
        return wait(removeLater(id));
    }

    /**
     * Inserts a row, or replaces the row of the same id. Updates of one id are done in the order of these calls. Waits only while
     * some thousand updates are under way.
     *
     * @param id any
     * @param vector of the table's dimension, finite, not zero for cosine; copied
     * @return completes when the update is durable and searches that begin from now on see it, with whether there was no row of this
     *     id; or with an {@link UncheckedIOException}, as {@link #put} throws it
     * @throws io.github.roost.core.task.TableFullException if codes and ids have no room within the memory limit; nothing has changed
     */
    public CompletableFuture<Boolean> putLater(long id, float[] vector) {
        Vectors.require("vector", vector, dimension(), metric());
        return add(new Update(
                id, Space.of(metric(), vector), orchestrator.indexing().newFuture()));
    }

    /**
     * Removes a row. Updates of one id are done in the order of these calls. Waits only while a thousand updates are under way.
     *
     * @param id external id
     * @return completes when the update is durable and searches that begin from now on do not find the row, with whether there was
     *     one; or with an {@link UncheckedIOException}, as {@link #remove} throws it
     */
    public CompletableFuture<Boolean> removeLater(long id) {
        return add(new Update(id, null, orchestrator.indexing().newFuture()));
    }

    private CompletableFuture<Boolean> add(Update update) {
        DiskUpdates to = mutable();
        // Before it is in the log: the workers would not do it any more, and opening the table again would.
        orchestrator.indexing().requireOpen();
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
     * Writes what has changed to the file, so that the table is opened faster the next time. Happens by itself when some thousand
     * pages have changed and when the table is closed.
     *
     * @return completes when it is durable; with an {@link IOException} where it cannot be written: the updates are in the log, and
     *     the next checkpoint takes them up
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

    /** Has the writer do its work. */
    CompletableFuture<Void> maintenance(DiskWriter writer) {
        return orchestrator.indexing().maintenance(mappingId(), writer);
    }

    /**
     * Sets for how long updates run before their worker looks whether reads of searches have ended: the overrun of a stall that they
     * fill is at most about that. In a long slice an update goes on until it is done or must wait, and no other is begun.
     *
     * @param slice from a microsecond to a second, or zero for as long as the worker has for it, the default: 5 us, or what
     *     {@link io.github.roost.core.stall.StallPolicy} says. At once in force
     */
    public void updateSlice(Duration slice) {
        if (!slice.isZero()
                && (slice.compareTo(Duration.ofNanos(1_000)) < 0 || slice.compareTo(Duration.ofSeconds(1)) > 0)) {
            throw new IllegalArgumentException(
                    "the slice of updates must be zero or from a microsecond to a second, got " + slice);
        }
        sliceNanos = slice.toNanos();
    }

    /** How long the writer may go on before others have a turn. */
    long stepNanos(SearchContext context) {
        long fixed = sliceNanos;
        return fixed == 0 ? context.stepNanos() : fixed;
    }

    /**
     * Sets where updates are done. The operating system's own way to fill stalls, {@link UpdateThread#OWN_IDLE}, is for storage that is
     * slow beside a change of threads, and for workers that sleep while they wait.
     *
     * @param thread default {@link UpdateThread#WORKERS}; in force from the next step of an update on
     */
    public void updateThread(UpdateThread thread) {
        updateThread = Objects.requireNonNull(thread, "update thread must not be null");
    }

    UpdateThread updateThread() {
        return updateThread;
    }

    /**
     * Sets whether a search that goes on after updates have run on its worker first reads its table of distances again, all at once,
     * so that it comes back into the cache without a wait for each line.
     *
     * @param value default false. At once in force for searches that begin
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

    /** An update failed that is in the log: what comes after it may depend on it. */
    void writerFailed(Throwable failure) {
        LOG.error("an update of {} failed; no more are taken", file.path(), failure);
        if (updates != null) {
            updates.fail(failure);
        }
    }

    /** Waits for room; a worker runs something else meanwhile. */
    void acquire(Semaphore room) {
        if (orchestrator.indexing().calledOnWorker()) {
            while (!room.tryAcquire()) {
                orchestrator.indexing().giveWay();
            }
        } else {
            room.acquireUninterruptibly();
        }
    }

    private UnsupportedOperationException fixed() {
        return new UnsupportedOperationException("table " + name() + " was opened for searches alone");
    }

    /** {@inheritDoc} The table stays where it is; the file is a table of its own, of what was durable when this was called. */
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

    /** Uses the table in this thread: its memory and its file stay until the hold is closed. */
    private TableUse.Hold use() {
        requireOpen();
        return registration.use().hold();
    }

    /** Counts a search that has ended by itself. */
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

    /** A search has come upon a page that it cannot use. */
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

    /** An update has read a page. */
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

    /** With all the rows that may be under way. */
    private long memoryBytesWithMore() {
        synchronized (nodes) {
            return graph.codes().bytesWith(DiskUpdates.MAX_UNDER_WAY) + nodes.bytesWith(DiskUpdates.MAX_UNDER_WAY);
        }
    }

    /** {@inheritDoc} Of codes and ids: vectors and edges are in the file. A thousand rows below it no more are taken. */
    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }

    /** {@return counts since it was opened} */
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

    /** {@return where searches of this table belong} */
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

    /** {@inheritDoc} It waits for the updates that were accepted, and for a checkpoint of them, too. */
    @Override
    public void close() {
        if (!isClosing.compareAndSet(false, true)) {
            orchestrator.indexing().awaitClosed(registration);
        } else if (orchestrator.indexing().calledOnWorker()) {
            // The updates that are waited for may need this worker.
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
