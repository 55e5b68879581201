package io.github.roost.index.disk;

import static io.github.roost.core.io.BlockIo.BLOCK_BYTES;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.io.BlockFile;
import io.github.roost.core.io.BlockIo;
import io.github.roost.core.io.BlockReads;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.RejectedSearchException;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.core.vector.ElementType;
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
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
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
 * and of the others each whole or not at all. One process at a time may open a table for updates.
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is said in the log and in {@link #diskStats}; searches leave its nodes out
 * and go on without them. Thread-safe.
 */
public final class DiskTable implements VectorTable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTable.class);
    private static final int MOST_DAMAGED = 1_000;
    /** 32 MiB of changed pages. */
    private static final int DEFAULT_CHANGED_PAGES = 8_192;

    private static final Duration DEFAULT_SLICE = Duration.ofNanos(5_000);
    private static final int LEAST_DEFAULT_WIDTH = 100;
    /** Rows that are queries where a search asks for a recall. */
    private static final int SAMPLE = 64;
    /** The same rows each time, so that the same table gives the same effort. */
    private static final long SAMPLE_SEED = 42;

    /** Users of a file that is closed when there are none. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final DiskGraph graph;
    private final RowNodes nodes;
    private final @Nullable DiskUpdates updates;
    private final RecallEfforts efforts = new RecallEfforts(this::effortByOwnRows, this::size);
    private final Registration registration;
    /** Searches that have been accepted and are not over, and whether the table is closed: who makes it CLOSED closes the file. */
    private final AtomicInteger users = new AtomicInteger();

    private volatile long sliceNanos = DEFAULT_SLICE.toNanos();
    private final LongAdder searches = new LongAdder();
    private final LongAdder pagesRead = new LongAdder();
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
            int mostChangedPages)
            throws IOException {
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
     * {@code .log0} and {@code .log1} behind it, without which it is not whole.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, open for as long as the table
     * @param name under which the table shows in reports
     * @param path file that {@link DiskTableBuilder#build} has written; nothing else may change it while the table is open
     * @return the table, to be closed
     * @throws IOException if a file cannot be read or written, or holds no whole table; the message says what is wrong where
     */
    public static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        return open(orchestrator, io, name, path, DEFAULT_CHANGED_PAGES);
    }

    /** With so many changed pages before a checkpoint. */
    static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path, int mostChangedPages)
            throws IOException {
        // So that a file that is not there is not made.
        io.open(path).close();
        return open(orchestrator, io, name, io.openForUpdate(path), true, mostChangedPages);
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
        return open(orchestrator, io, name, io.open(path), false, 0);
    }

    private static DiskTable open(
            Orchestrator orchestrator, BlockIo io, String name, BlockFile file, boolean isMutable, int mostChangedPages)
            throws IOException {
        try {
            return new DiskTable(orchestrator, io, name, DiskGraph.read(file), isMutable, mostChangedPages);
        } catch (Throwable failed) {
            file.close();
            throw failed;
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
        enter();
        BlockReads reads = io.reads();
        CompletableFuture<DiskAnswer> answer;
        try {
            DiskWalk walk = new DiskWalk(this, how, Space.of(metric(), query), reads);
            answer = orchestrator.indexing().submitSteps(walk::begin, walk, mappingId(), options);
        } catch (Throwable refused) {
            reads.close();
            leave();
            throw refused;
        }
        // Whatever ends the search frees its reads; those under way keep the file open by themselves.
        var _ = answer.whenComplete((result, failure) -> {
            reads.close();
            leave();
        });
        return answer;
    }

    @Override
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check(request);
        requireOpen();
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
        Vectors.require("query", request.query(), dimension(), metric());
        how(request);
    }

    private static DiskSearch how(SearchRequest request) {
        return DiskSearch.of(request.k(), request.effortOr(defaultWidth(request.k())))
                .withFilter(request.filter())
                .withVisitLimit(request.visitLimit());
    }

    static int defaultWidth(int k) {
        return Math.max(LEAST_DEFAULT_WIDTH, 2 * k);
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
        CompletableFuture<R> derived = orchestrator.newFuture();
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

    /** {@inheritDoc} It submits a search and waits for it, in which a worker runs other tasks. */
    @Override
    public SearchFunction<float[], Neighbors> searchFunction(int k, int effort) {
        DiskSearch how = DiskSearch.of(k, effort);
        return (query, context) -> {
            try {
                return search(query, how, SubmitOptions.DEFAULT).get().neighbors();
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof Exception cause ? cause : failed;
            }
        };
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
        Neighbors[] exact = new ExactScan(this).nearest(sample, k);
        for (int query = 0; query < sample.length; query++) {
            nearest.put(sample[query], exact[query]);
        }
        RecallSample measured =
                new RecallSample(sample, query -> CompletableFuture.completedFuture(nearest.get(query)));
        return measured.leastEffort(
                k,
                DiskSearch.MOST_WIDTH,
                recall,
                width -> query ->
                        derived(search(query, DiskSearch.of(k, width), SubmitOptions.BATCH), DiskAnswer::neighbors));
    }

    /** By rows as queries: each finds itself too, so one neighbour more is looked for, which every search finds. */
    private int effortByOwnRows(double recall, int k) {
        int rows = size();
        float[][] sample = new Random(SAMPLE_SEED)
                .ints(0, graph.codes().nodes())
                .distinct()
                .limit(Math.min(SAMPLE, graph.codes().nodes()))
                .filter(node -> graph.codes().state(node) == Codes.LIVE)
                .mapToObj(node -> vector(graph.codes().id(node)))
                .filter(Objects::nonNull)
                .toArray(float[][]::new);
        if (sample.length == 0) {
            return defaultWidth(k);
        }
        int withItself = Math.min(Math.min(k + 1, Vectors.MOST_NEIGHBORS), rows);
        double target = (recall * (withItself - 1) + 1) / withItself;
        return Math.max(k, effort(target, withItself, sample));
    }

    /** {@inheritDoc} Reads its page, for which it waits; null also where the page is damaged, which is logged. */
    @Override
    public float @Nullable [] vector(long id) {
        requireOpen();
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

    /** A page as it is now, which it waits for; null where it cannot be used. */
    @Nullable
    NodePage readPage(int number, MemorySegment into) {
        enter();
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
        } finally {
            leave();
        }
    }

    DiskGraph graph() {
        return graph;
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
     */
    public CompletableFuture<Boolean> putLater(long id, float[] vector) {
        Vectors.require("vector", vector, dimension(), metric());
        return add(new Update(id, Space.of(metric(), vector), orchestrator.newFuture()));
    }

    /**
     * Removes a row. Updates of one id are done in the order of these calls. Waits only while a thousand updates are under way.
     *
     * @param id external id
     * @return completes when the update is durable and searches that begin from now on do not find the row, with whether there was
     *     one; or with an {@link UncheckedIOException}, as {@link #remove} throws it
     */
    public CompletableFuture<Boolean> removeLater(long id) {
        return add(new Update(id, null, orchestrator.newFuture()));
    }

    private CompletableFuture<Boolean> add(Update update) {
        mutable().add(update);
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
     * fill is at most about that.
     *
     * @param slice from a microsecond to a second; default 5 us. At once in force
     */
    public void updateSlice(Duration slice) {
        if (slice.compareTo(Duration.ofNanos(1_000)) < 0 || slice.compareTo(Duration.ofSeconds(1)) > 0) {
            throw new IllegalArgumentException(
                    "the slice of updates must be from a microsecond to a second, got " + slice);
        }
        sliceNanos = slice.toNanos();
    }

    /** How long the writer may go on before others have a turn. */
    long stepNanos() {
        return sliceNanos;
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
        if (orchestrator.calledOnWorker()) {
            while (!room.tryAcquire()) {
                orchestrator.giveWay();
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
        enter();
        try {
            if (updates == null) {
                TableCopy.write(file, graph.root(), copy);
            } else {
                updates.save(copy);
            }
        } finally {
            leave();
        }
    }

    private void requireOpen() {
        if (users.get() < 0) {
            throw new TableClosedException(name());
        }
    }

    private void enter() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                throw new TableClosedException(name());
            }
        } while (!users.compareAndSet(before, before + 1));
    }

    private void leave() {
        if (users.decrementAndGet() == CLOSED) {
            file.close();
        }
    }

    /** Counts a search that has ended by itself. */
    DiskAnswer ended(DiskAnswer answer) {
        searches.increment();
        pagesRead.add(answer.pagesRead());
        nodesExpanded.add(answer.nodesExpanded());
        stalledNanos.add(answer.stalledNanos());
        busyNanos.add(answer.busyNanos());
        return answer;
    }

    /** A search has come upon a page that it cannot use. */
    void damaged(int page, @Nullable IOException failure) {
        if (damaged.size() < MOST_DAMAGED && damaged.add(page)) {
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

    /** {@return counts since it was opened} */
    public DiskTableStats diskStats() {
        return new DiskTableStats(
                searches.sum(),
                pagesRead.sum(),
                nodesExpanded.sum(),
                stalledNanos.sum(),
                busyNanos.sum(),
                List.copyOf(damaged),
                graph.codes().bytes(),
                file.blocks() * BlockIo.BLOCK_BYTES,
                updates == null ? 0 : updates.writer().updates(),
                updates == null ? 0 : updates.writer().busyNanos(),
                updates == null ? 0 : updates.writer().pruneNanos(),
                updates == null ? 0 : updates.checkpoints(),
                graph.changed().size(),
                graph.dead());
    }

    @Override
    public TableStats stats() {
        return new TableStats(
                name(),
                "disk",
                size(),
                dimension(),
                metric(),
                elementType(),
                1,
                graph.codes().bytes());
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

    /**
     * {@inheritDoc} Waits for the updates that were accepted, and for a checkpoint of them; the file is closed after the last search.
     */
    @Override
    public void close() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                return;
            }
        } while (!users.compareAndSet(before, before | CLOSED));
        // Those that have found the table open hold the file open; this does too until the updates are written.
        users.incrementAndGet();
        if (updates != null) {
            updates.close();
        }
        registration.close();
        leave();
    }
}
