package io.github.roost.index.disk;

import static io.github.roost.core.io.BlockIo.BLOCK_BYTES;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableFileException;
import io.github.roost.core.Vectors;
import io.github.roost.core.WholeFile;
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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table larger than memory: a graph whose nodes, vectors and edges together, lie on checksummed pages of a file, and codes of the
 * vectors in memory (Subramanya et al., "DiskANN", NeurIPS 2019). A search parks while its pages are read, and its worker
 * does something else meanwhile. Cannot be changed once it is built. The effort of a search is the width of {@link DiskSearch},
 * by default the larger of 100 and 2 k.
 *
 * <pre>{@code
 * DiskTable.builder().build(orchestrator, io, file, ids, vectors);
 * DiskTable table = DiskTable.open(orchestrator, io, "products", file);
 * CompletableFuture<DiskAnswer> answer = table.search(query, DiskSearch.of(10, 64), SubmitOptions.DEFAULT);
 * }</pre>
 *
 * <p>A page that cannot be read, or whose checksum is wrong, is said in the log and in {@link #diskStats}; searches leave its nodes out
 * and go on without them. Thread-safe.
 */
public final class DiskTable implements VectorTable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskTable.class);
    private static final int MOST_DAMAGED = 1_000;
    private static final int LEAST_DEFAULT_WIDTH = 100;
    private static final int COPIED_BLOCKS = 256;
    /** Rows that are queries where a search asks for a recall. */
    private static final int SAMPLE = 64;
    /** The same rows each time, so that the same table gives the same effort. */
    private static final long SAMPLE_SEED = 42;

    /** Users of a file that is closed when there are none. */
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Orchestrator orchestrator;
    private final BlockIo io;
    private final BlockFile file;
    private final Superblock root;
    private final Codes codes;
    private final RowNodes nodes;
    private final RecallEfforts efforts = new RecallEfforts(this::effortByOwnRows, this::size);
    private final Registration registration;
    /** Searches that have been accepted and are not over, and whether the table is closed: who makes it CLOSED closes the file. */
    private final AtomicInteger users = new AtomicInteger();

    private final LongAdder searches = new LongAdder();
    private final LongAdder pagesRead = new LongAdder();
    private final LongAdder nodesExpanded = new LongAdder();
    private final LongAdder stalledNanos = new LongAdder();
    private final LongAdder busyNanos = new LongAdder();
    private final ConcurrentSkipListSet<Integer> damaged = new ConcurrentSkipListSet<>();

    private DiskTable(
            Orchestrator orchestrator, BlockIo io, String name, BlockFile file, Superblock root, Codes codes) {
        this.orchestrator = orchestrator;
        this.io = io;
        this.file = file;
        this.root = root;
        this.codes = codes;
        this.nodes = RowNodes.of(codes);
        this.registration = orchestrator.register(name);
    }

    /** {@return a builder with every option at its default} */
    public static DiskTableBuilder builder() {
        return new DiskTableBuilder();
    }

    /**
     * Opens a table: reads its codes and ids into memory and checks them. Pages are checked as they are read.
     *
     * @param orchestrator places the table
     * @param io block I/O of that orchestrator, open for as long as the table
     * @param name under which the table shows in reports
     * @param path file that {@link DiskTableBuilder#build} has written; it must not be changed while the table is open
     * @return the table, to be closed
     * @throws IOException if the file cannot be read or holds no whole table; the message says what is wrong where
     */
    public static DiskTable open(Orchestrator orchestrator, BlockIo io, String name, Path path) throws IOException {
        BlockFile file = io.open(path);
        try {
            Superblock root = root(file);
            if (file.blocks() < root.layout().blocks()) {
                throw new TableFileException(
                        path,
                        file.blocks() * BlockIo.BLOCK_BYTES,
                        "ends here, and should have " + root.layout().blocks() + " blocks");
            }
            return new DiskTable(orchestrator, io, name, file, root, new Codes(root.layout(), memory(file, root)));
        } catch (Throwable failed) {
            file.close();
            throw failed;
        }
    }

    private static Superblock root(BlockFile file) throws IOException {
        if (file.blocks() < DiskLayout.SUPERBLOCKS) {
            throw new TableFileException(file.path(), 0, "holds no table: it is too short");
        }
        Superblock newest = null;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
            for (int i = 0; i < DiskLayout.SUPERBLOCKS; i++) {
                file.read(i, block);
                Superblock read = Superblock.read(block);
                if (read != null && (newest == null || read.sequence() > newest.sequence())) {
                    newest = read;
                }
            }
        }
        if (newest == null) {
            throw new TableFileException(file.path(), 0, "holds no whole table: neither of its superblocks is one");
        }
        return newest;
    }

    private static MemorySegment memory(BlockFile file, Superblock root) throws IOException {
        DiskLayout layout = root.layout();
        MemorySegment memory = Arena.ofAuto().allocate(layout.memoryBytes(), BlockIo.BLOCK_BYTES);
        file.read(layout.memoryBlock(), memory);
        if (Superblock.checksum(memory) != root.memoryChecksum()) {
            throw new TableFileException(
                    file.path(), layout.memoryBlock() * BlockIo.BLOCK_BYTES, "has damaged codes: wrong checksum");
        }
        return memory;
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
            DiskWalk walk = new DiskWalk(this, codes, how, Space.of(metric(), query), reads);
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
        Map<float[], Neighbors> nearest = new IdentityHashMap<>();
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
                .ints(0, Math.max(1, codes.layout().nodes()))
                .distinct()
                .limit(Math.min(SAMPLE, codes.layout().nodes()))
                .mapToObj(node -> vector(codes.id(node)))
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
        int node = nodes.node(id);
        if (node < 0) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            NodePage page = readPage(codes.layout().pageOf(node), arena.allocate(BLOCK_BYTES, BLOCK_BYTES));
            if (page == null || !page.isSound(node)) {
                return null;
            }
            float[] vector = new float[dimension()];
            page.vector(node, vector);
            return vector;
        }
    }

    /** Reads a page and waits for it; null where it cannot be used. */
    @Nullable
    NodePage readPage(int number, MemorySegment into) {
        enter();
        try {
            file.read(codes.layout().blockOf(number), into);
            NodePage page = new NodePage(codes.layout(), number, into);
            if (page.isWhole()) {
                return page;
            }
            damaged(number, null);
        } catch (IOException failure) {
            damaged(number, failure);
        } finally {
            leave();
        }
        return null;
    }

    Codes codes() {
        return codes;
    }

    @Override
    public boolean isMutable() {
        return false;
    }

    @Override
    public boolean put(long id, float[] vector) {
        throw fixed();
    }

    @Override
    public boolean remove(long id) {
        throw fixed();
    }

    private UnsupportedOperationException fixed() {
        return new UnsupportedOperationException("the rows of disk table " + name() + " are fixed");
    }

    /** {@inheritDoc} The table stays where it is; the file is a copy. */
    @Override
    public void save(Path copy) throws IOException {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment blocks = arena.allocate((long) COPIED_BLOCKS * BLOCK_BYTES, BLOCK_BYTES);
            WholeFile.replace(copy, channel -> {
                for (long first = 0; first < file.blocks(); first += COPIED_BLOCKS) {
                    MemorySegment run = blocks.asSlice(0, Math.min(COPIED_BLOCKS, file.blocks() - first) * BLOCK_BYTES);
                    file.read(first, run);
                    WholeFile.writeAll(channel, run.asByteBuffer());
                }
            });
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
                    root.layout().blockOf(page) * BlockIo.BLOCK_BYTES,
                    failure == null ? "its checksum is wrong" : failure.getMessage());
        }
    }

    int entry() {
        return root.entry();
    }

    BlockFile file() {
        return file;
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
                root.layout().memoryBytes(),
                root.layout().blocks() * BlockIo.BLOCK_BYTES);
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
                root.layout().memoryBytes());
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
        return root.layout().nodes();
    }

    @Override
    public int dimension() {
        return root.layout().dimension();
    }

    @Override
    public Metric metric() {
        return root.metric();
    }

    /** Unregisters the table; searches already accepted still run, and the file is closed after the last of them. */
    @Override
    public void close() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                return;
            }
        } while (!users.compareAndSet(before, before | CLOSED));
        registration.close();
        if (before == 0) {
            file.close();
        }
    }
}
