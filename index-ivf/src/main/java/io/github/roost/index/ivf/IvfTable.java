package io.github.roost.index.ivf;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.Maintenance;
import io.github.roost.core.spi.Step;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.ScanKernels;
import io.github.roost.neighborhash.RowMap;
import io.github.roost.topology.DomainMemory;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.TableFileException;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.BuildWork;
import io.github.roost.vector.spi.MemoryLimit;
import io.github.roost.vector.spi.RecallSample;
import io.github.roost.vector.spi.TableMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An inverted file (Sivic and Zisserman, 2003): rows in lists by their nearest centroid; a query probes the nprobe nearest
 * lists. Lists store float32, float16 or 8-bit codes ({@link ElementType}). Float32 lists also store 8-bit codes: a scan
 * reads the codes first, and their error bound rules out most rows, so that few full vectors are read. Each list is a mapping
 * id of its own, so the orchestrator places lists, not tables.
 *
 * <p>If workers are free, a query forks into parts that scan several of its lists each. Otherwise it joins the batch queue of
 * each list it probes: a list is scanned, on a worker of its home domain, once for all queries in the queue. The worker that
 * finishes a query's last list merges its answer. Deadline, cancellation, priority, overload and failure are per query, even if
 * lists are scanned together with other queries: no list is scanned for a query after its deadline.
 *
 * <p>The effort of a search is nprobe; with all lists a search is exact, except in lists of {@link ElementType#INT8}. With a radius, a search
 * finds all rows of its lists within it, up to k; lists of INT8 look for them among the candidates that a search for k rows reranks. No
 * distance is computed for rows that the filter refuses. Lists with codes scan the codes of all rows, and ask the filter only about rows whose
 * scores are good enough. {@link #searchAll} on lists that many of its queries probe is several times as fast as one search after the other; all
 * its searches are in flight at once, so an orchestrator that rejects tasks when its rings are full may fail some: let it block, or make rings
 * larger.
 *
 * <p>Rows may be added, removed and changed while the table is searched; a search that starts after such a call has
 * returned sees its effect. Rows added a few at a time wait in a buffer, which every search scans in addition to
 * its lists, until maintenance moves them to their lists. A list with many removed rows is compacted by maintenance; {@link
 * #rebuild} retrains the table when {@link #imbalance} has grown.
 *
 * <p>On a machine of several NUMA nodes the memory of each list follows the list's home ({@link TableMemory}), unless it is
 * mapped from a file; the last block of a growing list stays on the node of the thread that wrote it until the next block begins.
 *
 * <p>Thread-safe. Searches return at once; their futures may be waited for inside another search too.
 */
public final class IvfTable extends AbstractVectorTable implements MutableVectorTable, MemoryLimited {
    /**
     * System property that names the kernel of tables built or opened later, one of the names that {@link #kernel}
     * returns; by default the fastest. Build and open refuse a name that this machine has no kernel for.
     */
    public static final String KERNEL_PROPERTY = ScanKernels.PROPERTY;

    /** Max of {@link Builder#rerank}. */
    static final double MAX_RERANK = 100;

    /** Queries of a batch that are submitted before any list is queued; few enough that workers do not wait long. */
    private static final int MAX_TOGETHER = 64;
    /** Max rescans of a search whose answer lacks rows: more than one is needed only while rows keep being added or moved. */
    private static final int TIMES_AGAIN = 8;

    /** A search's state across its scans: none, as each scan knows its query. */
    private static final Object SEARCH = new Object();
    /** Progress of a rebuild after its rows are copied. */
    private static final double COPIED = .05;

    private final ListSearch scans;
    private final RowPreparation preparation;
    private final IvfRows rows;
    private final Training training;
    private final ListScanner scanner;
    private final ListScanner scannerOfCodedFloats;
    private final int nprobe;
    private final double rerank;
    private final TableMemory memory;
    private final MemoryLimit limit = new MemoryLimit();
    /** The rebuild under way, or the last one; guarded by {@link #training}. */
    private @Nullable TableBuild<IvfTable> rebuild;
    /** Whether closing has begun: no rebuild begins any more. Guarded by {@link #training}. */
    private boolean isClosing;

    private IvfTable(
            Orchestrator orchestrator,
            Registration registration,
            RowPreparation preparation,
            Training training,
            IvfRows rows,
            int nprobe,
            double rerank,
            TableMemory.Mover mover) {
        super(orchestrator, registration, preparation.metric(), training.element(), preparation.dimension());
        this.scans = new ListSearch(orchestrator, registration, rows::size);
        this.preparation = preparation;
        this.training = training;
        this.rows = rows;
        this.nprobe = nprobe;
        this.rerank = rerank;
        ScanKernel kernel = training.kernel();
        this.scanner = switch (training.element()) {
            case FLOAT32 -> new FloatScanner(kernel, metric(), dimension(), Float.BYTES);
            case FLOAT16 -> new FloatScanner(kernel, metric(), dimension(), Short.BYTES);
            case INT8 -> CodeScanner.approximate(kernel, metric(), dimension(), rerank);
        };
        this.scannerOfCodedFloats = training.element() == ElementType.FLOAT32 && kernel.scansCodesFaster()
                ? CodeScanner.exact(kernel, metric(), dimension())
                : scanner;
        this.memory = TableMemory.keepAtHome(orchestrator, registration, rows::memory, mover);
        rows.onGrowth(memory::isNew);
        rows.limitBy(bytes -> limit.admit(name(), bytes));
    }

    /** Depends on the lists in force: a rebuild may add codes to a table that had none. */
    private ListScanner scanner(Lists lists) {
        return lists.layout().codes() ? scannerOfCodedFloats : scanner;
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    protected int defaultEffort(int k) {
        return nprobe;
    }

    @Override
    public int minEffort(int k) {
        return 1;
    }

    @Override
    public int maxEffort() {
        return nlist();
    }

    @Override
    protected String effortName() {
        return "nprobe";
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        float[] query = preparation.stored(request.query());
        return submit(IvfRequest.of(query, request), effort(request), request.options());
    }

    /**
     * Returns a search function for {@link Orchestrator#submit}, which searches in one piece: the thread that runs it scans all of the query's
     * lists, one after the other. {@link #search(float[], int, int)} scans each list at its home, under load together with other queries.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @param effort nprobe, from 1 to {@link #nlist()}
     * @return the search function, to be submitted under an id of {@link #registration()}, or called in a thread that is not a worker; it throws
     *     the exceptions of a search of this table
     */
    public SearchFunction<float[], SearchResult> searchFunction(int k, int effort) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("nprobe", effort, 1, nlist());
        return (query, context) -> {
            requireQuery("query", query);
            float[] prepared = preparation.stored(query);
            // The calling thread need not run a task of this table.
            try (var _ = registration().use().holdFromInside()) {
                return searchHere(IvfRequest.nearest(prepared, k), effort, context);
            }
        };
    }

    /**
     * Scans a query's lists one after the other. If rows are missing, because one was seen twice or more were added than
     * there was room for, scans again, at most {@link #TIMES_AGAIN} times.
     */
    private SearchResult searchHere(IvfRequest asked, int probes, SearchContext context) {
        IvfRequest request = asked;
        SearchCost cost = SearchCost.NONE;
        for (int timesAgain = TIMES_AGAIN; ; timesAgain--) {
            View view = rows.view();
            int[] probed = scanned(view.lists(), probes, request.vector())[0];
            if (probed.length == 0) {
                return SearchResult.EMPTY;
            }
            IvfQuery<?> query = query(request, view);
            for (int list : probed) {
                if (context.expired()) {
                    // If it was cancelled, the future is done and nobody sees the exception.
                    throw new DeadlineExceededException();
                }
                scanner(view.lists()).scan(view.lists().rows(list), List.of(query), context);
            }
            IvfQuery.Result result = query.result();
            if (!result.lacks() || timesAgain == 0) {
                return result.found().with(cost.plus(result.found().cost()), result.found().cutShort());
            }
            cost = cost.plus(result.found().cost());
            request = request.again();
        }
    }

    /** Searches of one batch that probe the same list share one scan of it. */
    @Override
    protected List<CompletableFuture<SearchResult>> submitAll(List<SearchRequest> requests) {
        List<CompletableFuture<SearchResult>> answers = new ArrayList<>(requests.size());
        for (int from = 0; from < requests.size(); from += MAX_TOGETHER) {
            answers.addAll(togetherOrFailed(requests.subList(from, Math.min(requests.size(), from + MAX_TOGETHER))));
        }
        return answers;
    }

    private List<CompletableFuture<SearchResult>> togetherOrFailed(List<SearchRequest> requests) {
        SubmitOptions options = requests.getFirst().options();
        boolean alike = requests.stream()
                .allMatch(request -> request.options().equals(options) && Double.isNaN(request.targetRecall()));
        if (!alike) {
            return requests.stream().map(this::submitOrFail).toList();
        }
        try {
            return submitTogether(requests, options);
        } catch (RuntimeException refused) {
            // Searches of earlier batches have begun: the caller must get their futures.
            return requests.stream()
                    .map(request -> CompletableFuture.<SearchResult>failedFuture(refused))
                    .toList();
        }
    }

    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        return new RecallSample(sample, query -> inBatch(query, k, nlist()))
                .minEffort(1, nlist(), recall, probes -> query -> inBatch(query, k, probes));
    }

    private CompletableFuture<SearchResult> inBatch(float[] query, int k, int probes) {
        return submit(IvfRequest.nearest(preparation.stored(query), k), probes, SubmitOptions.BATCH);
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        return rows.sample(count, random);
    }

    /**
     * The lists that a search scans, nearest first.
     *
     * @param query {@link #dimension()} finite components
     * @param nprobe number of lists, from 1 to {@link #nlist()}
     * @return list numbers, from 0 to {@link #nlist()} exclusive
     */
    public int[] probes(float[] query, int nprobe) {
        Vectors.requireRange("nprobe", nprobe, 1, nlist());
        requireQuery("query", query);
        try (var _ = use()) {
            return probes(rows.lists(), nprobe, preparation.stored(query))[0];
        }
    }

    private int[][] probes(Lists lists, int probes, float[]... prepared) {
        return lists.quantizer().nearest(prepared, probes, metric());
    }

    /**
     * Per query: the buffer, if it has rows, then the lists it probes. If the buffer were last, all queries that share it
     * would be answered at once, and their callers' next queries would arrive at once too.
     */
    private int[][] scanned(Lists lists, int probes, float[]... prepared) {
        int[][] probed = probes(lists, probes, prepared);
        if (lists.buffer().isEmpty()) {
            return probed;
        }
        int[][] scanned = new int[probed.length][];
        for (int i = 0; i < scanned.length; i++) {
            scanned[i] = new int[probed[i].length + 1];
            scanned[i][0] = lists.bufferNumber();
            System.arraycopy(probed[i], 0, scanned[i], 1, probed[i].length);
        }
        return scanned;
    }

    private CompletableFuture<SearchResult> submit(IvfRequest request, int probes, SubmitOptions options) {
        View view = rows.view();
        int[] probed = scanned(view.lists(), probes, request.vector())[0];
        if (probed.length == 0) {
            return nothingProbed();
        }
        Plan plan = new Plan(probes, SearchCost.NONE, TIMES_AGAIN, true);
        CompletableFuture<SearchResult> found =
                orchestrator().indexing().submitFork(scans(request, view, probed, plan), SEARCH, options);
        flushIfDue();
        return found;
    }

    /** The answer if no list can be probed: only if the distances to all centroids overflow to NaN. */
    private CompletableFuture<SearchResult> nothingProbed() {
        requireOpen("a search");
        return CompletableFuture.completedFuture(SearchResult.EMPTY);
    }

    /** Queries that arrive at once, with equal options and no target recall. */
    private List<CompletableFuture<SearchResult>> submitTogether(List<SearchRequest> requests, SubmitOptions options) {
        View view = rows.view();
        int max = requests.stream().mapToInt(this::effort).max().orElseThrow();
        float[][] queries = requests.stream()
                .map(request -> preparation.stored(request.query()))
                .toArray(float[][]::new);
        int[][] probed = scanned(view.lists(), max, queries);
        List<Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult>> forks = new ArrayList<>(queries.length);
        for (int i = 0; i < queries.length; i++) {
            if (probed[i].length > 0) {
                int probes = effort(requests.get(i));
                // The nearest come first, after the buffer if it is scanned.
                int[] own = Arrays.copyOf(probed[i], Math.max(0, probed[i].length - (max - probes)));
                Plan plan = new Plan(probes, SearchCost.NONE, TIMES_AGAIN, queries.length == 1);
                forks.add(scans(IvfRequest.of(queries[i], requests.get(i)), view, own, plan));
            }
        }
        List<CompletableFuture<SearchResult>> answers =
                orchestrator().indexing().submitTogether(forks, SEARCH, options);
        flushIfDue();
        if (answers.size() == queries.length) {
            return answers;
        }
        Iterator<CompletableFuture<SearchResult>> inTurn = answers.iterator();
        return Arrays.stream(probed)
                .map(lists -> lists.length == 0 ? nothingProbed() : inTurn.next())
                .toList();
    }

    /**
     * How a search continues after its scans.
     *
     * @param probes nprobe
     * @param before cost of its earlier scans
     * @param timesAgain how often it may still be scanned again
     * @param alone whether the query runs by itself, not with queries that are likely to probe the same lists
     */
    private record Plan(int probes, SearchCost before, int timesAgain, boolean alone) {
        SearchResult answer(SearchResult found) {
            return found.with(before.plus(found.cost()), found.cutShort());
        }

        Plan again(SearchCost more) {
            return new Plan(probes, before.plus(more), timesAgain - 1, true);
        }
    }

    /** The scans of a query and their continuation: its answer, or the scans again if rows may be missing. */
    private Step.Fork<Object, IvfQuery<?>, Boolean, SearchResult> scans(
            IvfRequest request, View view, int[] probed, Plan plan) {
        IvfQuery<?> query = query(request, view);
        return scans.scans(
                query, probed, view.lists(), scanner(view.lists()), plan.alone(), (search, scanned, context) -> {
                    IvfQuery.Result result = query.result();
                    return result.lacks() && plan.timesAgain() > 0
                            ? scansAgain(
                                    request.again(), plan.again(result.found().cost()))
                            : Step.done(plan.answer(result.found()));
                });
    }

    private Step<Object, SearchResult> scansAgain(IvfRequest request, Plan plan) {
        View view = rows.view();
        int[] probed = scanned(view.lists(), plan.probes(), request.vector())[0];
        return probed.length == 0 ? Step.done(plan.answer(SearchResult.EMPTY)) : scans(request, view, probed, plan);
    }

    private IvfQuery<?> query(IvfRequest request, View view) {
        return scanner(view.lists()).query(request.forTableOf(rows.size()), view);
    }

    /**
     * Adds one row, as {@link #add(long[], float[][])} does.
     *
     * @param id an external id that is not in the table
     * @param vector finite, of the table's dimension
     */
    public void add(long id, float[] vector) {
        add(new long[] {id}, new float[][] {vector});
    }

    /**
     * Adds rows, all or none; blocks while other threads write.
     *
     * @param ids one per row, none in the table yet and no two equal
     * @param vectors rows of {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if rows or ids are invalid; then nothing is added
     * @throws io.github.roost.vector.TableFullException if the rows exceed the memory limit; then nothing is added
     * @throws OutOfMemoryError if there is no memory for all rows, for example by {@code -XX:MaxDirectMemorySize}; then
     *     nothing is added, and searches go on
     */
    public void add(long[] ids, float[][] vectors) {
        Objects.requireNonNull(ids, "ids must not be null");
        Objects.requireNonNull(vectors, "vectors must not be null");
        try (var _ = change()) {
            float[][] stored = preparation.prepareRows(vectors);
            Vectors.requireIds(ids, vectors.length);
            rows.add(ids, stored);
            flushIfDue();
        }
    }

    /** A search that runs at the same time may find a replaced row by its old vector or by its new one, or miss it. */
    @Override
    public boolean put(long id, float[] vector) {
        try (var _ = change()) {
            int list = rows.put(id, preparation.prepareRows(new float[][] {vector})[0]);
            if (list < 0) {
                flushIfDue();
            } else {
                compactIfSparse(list);
            }
            return list < 0;
        }
    }

    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            return rows.row(id);
        }
    }

    @Override
    public boolean remove(long id) {
        try (var _ = change()) {
            int list = rows.remove(id);
            compactIfSparse(list);
            return list >= 0;
        }
    }

    /**
     * Replaces the vector of a row. A search that runs at the same time may find the row by the old vector or by the new, but
     * not by both, or miss it. If it saw a row twice in place of another row, it scans again, up to eight times.
     *
     * @param id of a row that is in the table
     * @param vector {@link #dimension()} finite components; copied
     * @throws IllegalArgumentException if vector or id is invalid; then nothing is changed
     */
    public void update(long id, float[] vector) {
        try (var _ = change()) {
            compactIfSparse(rows.update(id, preparation.prepareRows(new float[][] {vector})[0]));
        }
    }

    /** If the compaction is put off, the next removal from the list tries again. */
    private void compactIfSparse(int list) {
        if (list >= 0 && rows.claimCompaction(list)) {
            Runnable putOff = () -> rows.putOffCompaction(list);
            maintain(list, () -> compaction(list), putOff, putOff);
        }
    }

    private IvfRows.Steps compaction(int list) {
        IvfRows.Steps steps = rows.compaction(list);
        return () -> {
            IvfRows.Progress progress = steps.step();
            if (progress == IvfRows.Progress.DONE) {
                memory.isNew(list);
            }
            return progress;
        };
    }

    /** If the flush is put off, the next addition or search tries again. */
    private void flushIfDue() {
        InsertBuffer buffer = rows.lists().buffer();
        if (buffer.claimFlush()) {
            maintain(0, () -> rows.flush(buffer), buffer::putOffFlush, buffer::flushFailed);
        }
    }

    /**
     * Runs maintenance of a list at its home. Puts it off if it would have to wait, and reports it if it fails; if the table or
     * its orchestrator has been closed, the maintenance is not needed.
     *
     * @param work called by the first step
     */
    private void maintain(int list, Supplier<IvfRows.Steps> work, Runnable putOff, Runnable failed) {
        boolean accepted = false;
        try {
            var _ = orchestrator()
                    .indexing()
                    .maintenance(registration().id(list), new RowMaintenance(work, putOff))
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            failed.run();
                        }
                    });
            accepted = true;
        } catch (RejectedExecutionException | TableClosedException | OutOfMemoryError notNow) {
            // The addition, removal or search that triggered the maintenance has succeeded.
            return;
        } finally {
            if (!accepted) {
                putOff.run();
            }
        }
    }

    /** Steps of {@link IvfRows} as maintenance. */
    private static final class RowMaintenance implements Maintenance {
        private final Supplier<IvfRows.Steps> begin;
        private final Runnable putOff;
        private IvfRows.@Nullable Steps steps;

        RowMaintenance(Supplier<IvfRows.Steps> begin, Runnable putOff) {
            this.begin = begin;
            this.putOff = putOff;
        }

        @Override
        public boolean step(SearchContext context) {
            IvfRows.Steps begun = steps;
            if (begun == null) {
                begun = begin.get();
                steps = begun;
            }
            IvfRows.Progress progress = begun.step();
            if (progress == IvfRows.Progress.PUT_OFF) {
                putOff.run();
            }
            return progress == IvfRows.Progress.MORE;
        }
    }

    /**
     * How unevenly the rows are spread over the lists: the number of lists times the sum of squared list lengths, divided by
     * the square of their sum (FAISS's imbalance factor). 1 is even; a search costs about this many times as much as with even lists.
     *
     * @return 1 or more
     */
    public double imbalance() {
        return rows.imbalance();
    }

    /**
     * Retrains on the current rows and swaps in the new lists while searches and changes go on; due when
     * {@link #imbalance} has grown to about twice its value after the build. Runs as batch work on the
     * orchestrator's workers. While a rebuild is running another call returns the same one, even if it has been cancelled and is
     * about to end.
     *
     * @return the running rebuild; its result is this table, once the new lists are in force. If it is cancelled or fails, the old
     *     lists stay in force; closing the table ends it with a {@link TableClosedException}
     * @throws TableClosedException if the table is closed
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    public TableBuild<IvfTable> rebuild() {
        synchronized (training) {
            requireNotClosing();
            TableBuild<IvfTable> last = rebuild;
            if (last != null && !last.result().isDone()) {
                return last;
            }
            BuildWork work = new BuildWork(orchestrator(), name() + " (rebuild)");
            TableBuild<IvfTable> begun = work.start(this::rebuild);
            rebuild = begun;
            return begun;
        }
    }

    private IvfTable rebuild(BuildWork work) {
        try {
            return rebuilt(work);
        } catch (CancellationException cancelled) {
            requireNotClosing();
            throw cancelled;
        }
    }

    private void requireNotClosing() {
        synchronized (training) {
            if (isClosing) {
                throw new TableClosedException(name());
            }
        }
    }

    private IvfTable rebuilt(BuildWork work) {
        RowCopy copy = copyForRebuild(work);
        try (copy) {
            RowMap locations = new RowMap(copy.count());
            boolean isDone = false;
            try {
                // The table is not held meanwhile, so closing it does not wait for the training.
                Lists fresh = copy.count() == 0
                        ? rows.lists().emptied()
                        : training.with(work).again(copy::row, copy.ids(), nlist(), rows.lists(), locations);
                try (var _ = use()) {
                    work.finish();
                    rows.exchange(fresh, locations);
                    isDone = true;
                }
            } finally {
                if (!isDone) {
                    locations.close();
                }
            }
        } catch (Throwable failure) {
            rows.giveUp();
            throw failure;
        }
        forgetEfforts();
        memory.allIsNew();
        return this;
    }

    private RowCopy copyForRebuild(BuildWork work) {
        work.phase(COPIED, nlist());
        try (var _ = use()) {
            return rows.copyForRebuild(() -> work.done(1));
        }
    }

    /**
     * Writes the table to a file, replacing an existing one atomically: after a crash the complete old or new file is
     * there. Searches go on, changes wait.
     *
     * @param file to write or replace
     * @throws IOException if it cannot be written; the old file is as it was, unless only the last sync failed
     */
    @Override
    public void save(Path file) throws IOException {
        try (var _ = use()) {
            rows.save(file, metric(), nprobe, training.seed(), rerank);
        } catch (UncheckedIOException damagedList) {
            throw damagedList.getCause();
        }
    }

    /** For a table from a file: reads and checks every list that no search has touched yet. */
    @Override
    public void verify() throws IOException {
        try (var _ = use()) {
            rows.lists().verify();
        } catch (UncheckedIOException damagedList) {
            throw damagedList.getCause();
        }
    }

    /**
     * Opens a table from a file that {@link #save} wrote. The vectors are mapped, so searches may begin before they are
     * read; a list's vectors are checked when the list is first touched, or by {@link #verify}. A search that touches a damaged
     * list fails with an {@link UncheckedIOException} whose cause is the {@link TableFileException}. Changes to the table do not
     * change the file, which must not be overwritten in place or truncated while the table is in use; {@link #save} over it is safe.
     *
     * @param orchestrator places the table
     * @param name the table's name in reports
     * @param file written by {@link #save}
     * @return the table, to be closed
     * @throws TableFileException if it is not a table file, or of another version, truncated or damaged
     */
    public static IvfTable open(Orchestrator orchestrator, String name, Path file) throws IOException {
        IvfFile.Opened opened = IvfFile.open(file);
        IvfFile saved = opened.table();
        ScanKernel kernel = ScanKernels.preferred();
        IvfRows rows = IvfRows.of(file, opened, new CoarseQuantizer(kernel, saved.centroids()));
        int lists = saved.ids().length;
        Training training = new Training(
                kernel,
                new BuildWork(orchestrator, name + " (build)"),
                saved.seed(),
                saved.metric(),
                saved.layout().element(),
                saved.layout().codes(),
                Training.MIN_CODED,
                saved.layout().floats());
        return new IvfTable(
                orchestrator,
                orchestrator.register(name, lists),
                new RowPreparation(
                        saved.metric(),
                        saved.layout().dimension(),
                        saved.layout().element()),
                training,
                rows,
                Math.min(saved.nprobe(), lists),
                saved.rerank(),
                DomainMemory::migrate);
    }

    @Override
    public int size() {
        return rows.size();
    }

    /** {@return the number of lists} */
    public int nlist() {
        return registration().size();
    }

    /**
     * Number of rows in a list, including tombstones not yet compacted; rows added recently may be in no list yet.
     * 0 for lists that do not exist because a rebuild had fewer rows than lists.
     *
     * @param list from 0 to {@link #nlist()} exclusive
     * @return at least 0
     */
    public int listSize(int list) {
        Vectors.requireRange("list", list, 0, nlist() - 1);
        Lists lists = rows.lists();
        return list < lists.count() ? lists.rows()[list].rows() : 0;
    }

    /** {@return the default nprobe, used by searches that do not pass one} */
    public int nprobe() {
        return nprobe;
    }

    /**
     * {@return the name of the scan kernel: {@code avx512}, {@code avx2}, {@code neon}, {@code vector}, {@code portable} or
     * {@code java}}
     */
    public String kernel() {
        return scanner.kernel();
    }

    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }

    @Override
    public TableStats stats() {
        long bytes = registration().isOpen() ? rows.bytes() : 0;
        return new TableStats(name(), "ivf", size(), dimension(), metric(), elementType(), nlist(), bytes);
    }

    @Override
    public void close() {
        // A rebuild begins under the same lock, only if closing has not begun. So a rebuild that is not seen here
        // never begins. One that is seen ends at its next step, unless its lists are being put in force: that is done
        // before the memory is freed.
        TableBuild<IvfTable> underWay;
        synchronized (training) {
            isClosing = true;
            underWay = rebuild;
        }
        if (underWay != null) {
            underWay.cancel();
        }
        super.close();
    }

    @Override
    protected void free() {
        rows.release();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        /** Share of a build's progress after its rows are checked. */
        private static final double READ = .05;

        private static final int ROWS_PER_CHECK = 256;

        private String name = "ivf";
        private Metric metric = Metric.SQUARED_L2;
        private int nlist;
        private int nprobe;
        private double targetRecall = .95;
        private long seed = 42;
        private ElementType elementType = ElementType.FLOAT32;
        private boolean codes = true;
        private int minCoded = Training.MIN_CODED;
        private boolean keepFloats = true;
        private double rerank = 1.5;
        private TableMemory.Mover mover = DomainMemory::migrate;
        private long memoryLimit = MemoryLimited.NO_MEMORY_LIMIT;

        private Builder() {}

        /**
         * Sets the table's name in reports.
         *
         * @param value default {@code ivf}
         * @return this builder
         */
        public Builder name(String value) {
            this.name = Objects.requireNonNull(value, "name must not be null");
            return this;
        }

        /**
         * Sets the distance function.
         *
         * @param value default squared L2
         * @return this builder
         */
        public Builder metric(Metric value) {
            this.metric = Objects.requireNonNull(value, "metric must not be null");
            return this;
        }

        /**
         * Sets the number of lists.
         *
         * @param value from 1 to 131,072 and at most the number of rows; default four times the root of the number of rows
         * @return this builder
         */
        public Builder nlist(int value) {
            this.nlist = requireLists("nlist", value);
            return this;
        }

        /**
         * Sets the default nprobe, used by searches that do not pass one.
         *
         * @param value from 1 to 131,072, capped at the number of lists; default: measured for {@link #targetRecall}
         * @return this builder
         */
        public Builder nprobe(int value) {
            this.nprobe = requireLists("nprobe", value);
            return this;
        }

        /**
         * Sets the share of a query's true 10 nearest rows that the probed lists should hold. The build measures with
         * 128 of the rows as queries how many lists that takes. Ignored if {@link #nprobe} is set.
         *
         * @param value from over 0 to 1; default .95
         * @return this builder
         */
        public Builder targetRecall(double value) {
            this.targetRecall = Vectors.requireRecall(value);
            return this;
        }

        /**
         * Sets the seed of the training; the same rows and seed give the same lists.
         *
         * @param value any number
         * @return this builder
         */
        public Builder seed(long value) {
            this.seed = value;
            return this;
        }

        /**
         * Sets the type that lists store each component as.
         *
         * @param value default {@link ElementType#FLOAT32}: 4 bytes per component, and one more with {@link #codes}.
         *     {@link ElementType#FLOAT16}: 2 bytes.
         *     {@link ElementType#INT8}: 1 byte, and 4 per row; scans several times as many rows per second; see
         *     {@link #keepFloats} for its total size
         * @return this builder
         */
        public Builder elementType(ElementType value) {
            this.elementType = Objects.requireNonNull(value, "elementType must not be null");
            return this;
        }

        /**
         * Sets whether {@link ElementType#FLOAT32} lists also store an 8-bit code per component: 5 bytes per component instead
         * of 4, and 4 per row. Scans read codes first and floats only of possible neighbours, so answers are the same to
         * the bit, and a scan reads a quarter of the bytes. The codes are learned from the rows of the build. The floats of later
         * rows that differ much from these are always read, until {@link IvfTable#rebuild} learns new codes.
         *
         * <p>A table of fewer than 1,024 rows has no codes until a rebuild with more rows. A table built with the kernel
         * {@code portable} or {@code java} has none either, as these are no faster with codes. No effect on other types.
         *
         * @param value default true
         * @return this builder
         */
        public Builder codes(boolean value) {
            this.codes = value;
            return this;
        }

        /** Min rows for codes; lower in tests. */
        Builder minCoded(int rows) {
            this.minCoded = rows;
            return this;
        }

        /** Moves the lists' memory; replaced in tests. */
        Builder mover(TableMemory.Mover value) {
            this.mover = value;
            return this;
        }

        /**
         * Sets whether {@link ElementType#INT8} lists also store the floats, which rerank the candidates of a search:
         * 5 bytes per component instead of 1. Without floats, distances are to the nearest of 256 values per dimension, and components
         * of later rows outside the build's range are clamped. No effect on other types.
         *
         * @param value default true
         * @return this builder
         */
        public Builder keepFloats(boolean value) {
            this.keepFloats = value;
            return this;
        }

        /**
         * Sets how many candidates of a search in {@link ElementType#INT8} lists are reranked with the full-precision query: k
         * plus this multiple of the root of k. The error of the codes swaps rows around the k-th place, over a distance that grows
         * more slowly than k. More candidates find more true neighbours and cost more. No effect on other types.
         *
         * @param value multiple of the root of k, from 0 to 100; default 1.5: 15 candidates for 10 rows, 115 for 100
         * @return this builder
         */
        public Builder rerank(double value) {
            if (!(value >= 0 && value <= MAX_RERANK)) {
                throw new IllegalArgumentException("rerank must be between 0 and 100, got " + value);
            }
            this.rerank = value;
            return this;
        }

        /**
         * Builds a table as {@link #build(Orchestrator, long[], float[][])} does, with the rows' ordinals as ids.
         *
         * @param orchestrator places and builds the table
         * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
         * @return the table, to be closed
         */
        public IvfTable build(Orchestrator orchestrator, float[][] vectors) {
            Objects.requireNonNull(vectors, "vectors must not be null");
            long[] ordinals = new long[vectors.length];
            Arrays.setAll(ordinals, i -> i);
            return build(orchestrator, ordinals, vectors);
        }

        /**
         * Trains and fills a table on the orchestrator's workers, as batch work behind searches. Blocks until the table is
         * complete, and ignores interrupts: for a build that can be ended early, use {@link #start} and {@link TableBuild#cancel()}.
         *
         * @param orchestrator places and builds the table
         * @param ids one per row, no two equal
         * @param vectors at least one row, all of one dimension from 1 to 4,096, all finite; copied
         * @return the table, to be closed
         * @throws IllegalArgumentException if rows, ids or options are invalid; then nothing is registered
         */
        public IvfTable build(Orchestrator orchestrator, long[] ids, float[][] vectors) {
            RowPreparation preparation = RowPreparation.of(metric, elementType, vectors);
            Vectors.requireIds(ids, vectors.length);
            StoredRows stored = row -> preparation.stored(vectors[row]);
            return plan(orchestrator, ids, preparation, stored).apply(work(orchestrator));
        }

        /**
         * Starts to train and fill a table from any source of rows, on the orchestrator's workers, as batch work behind
         * searches. Rows are read several times; the complete table holds them only in its own memory, so
         * there may be more rows than fit in the Java heap. The builder may be used again at once.
         *
         * @param orchestrator places and builds the table
         * @param ids one per row, no two equal; must not change during the build
         * @param rows at least one, of 1 to 4,096 dimensions; a row that is not finite, zero for cosine, or out of the
         *     element type's range fails the build
         * @return the running build; its result is to be closed
         * @throws IllegalArgumentException if ids, dimension or options are invalid
         */
        public TableBuild<IvfTable> start(Orchestrator orchestrator, long[] ids, VectorSource rows) {
            BuildWork.requireRows(ids, rows);
            RowPreparation preparation = new RowPreparation(metric, rows.dimension(), elementType);
            StoredRows stored = row -> preparation.stored(rows.row(row));
            Function<BuildWork, IvfTable> build = plan(orchestrator, ids, preparation, stored);
            return work(orchestrator).start(work -> {
                work.phase(READ, rows.size());
                work.run(rows.size(), ROWS_PER_CHECK, (from, to) -> {
                    for (int row = from; row < to; row++) {
                        preparation.requireRow(row, rows.row(row));
                    }
                });
                return build.apply(work);
            });
        }

        private BuildWork work(Orchestrator orchestrator) {
            return new BuildWork(orchestrator, name + " (build)");
        }

        /**
         * Limits the off-heap memory of the table's rows, from the build on; see {@link MemoryLimited#memoryLimit(long)}. A
         * build fails before it begins if even its rows exceed the limit, else at its end if the whole table does.
         *
         * @param bytes at least 1; no limit by default
         * @return this builder
         */
        public Builder memoryLimit(long bytes) {
            this.memoryLimit = MemoryLimit.require(bytes);
            return this;
        }

        /** A lower bound of the bytes that rows take. */
        private long minBytes(int rows, int dimension) {
            long bytes = switch (elementType) {
                case FLOAT32 -> Float.BYTES;
                case FLOAT16 -> Short.BYTES;
                case INT8 -> Byte.BYTES;
            };
            return rows * (bytes * dimension + Long.BYTES);
        }

        /** The build, with the options as they are now. */
        private Function<BuildWork, IvfTable> plan(
                Orchestrator orchestrator, long[] ids, RowPreparation preparation, StoredRows stored) {
            int lists = nlist == 0 ? defaultNlist(ids.length) : nlist;
            if (lists > ids.length) {
                throw new IllegalArgumentException(
                        "nlist must be at most the number of rows, " + ids.length + ", got " + lists);
            }
            MemoryLimit.admit(name, memoryLimit, minBytes(ids.length, preparation.dimension()));
            ScanKernel kernel = ScanKernels.preferred();
            Builder asked = copy();
            return work -> {
                Training training = new Training(
                        kernel,
                        work,
                        asked.seed,
                        asked.metric,
                        asked.elementType,
                        asked.codes,
                        asked.minCoded,
                        asked.keepFloats);
                RowMap locations = new RowMap(ids.length);
                boolean isDone = false;
                try {
                    Lists filled = training.lists(stored, ids, lists, preparation.dimension(), locations);
                    IvfRows built = new IvfRows(filled, locations);
                    MemoryLimit.admit(asked.name, asked.memoryLimit, built.bytes());
                    work.phase(1, ids.length);
                    int probes = asked.nprobe == 0
                            ? ProbeChoice.fewest(asked.targetRecall, training, stored, ids, filled, locations)
                            : Math.min(asked.nprobe, lists);
                    IvfTable table = new IvfTable(
                            orchestrator,
                            orchestrator.register(asked.name, lists),
                            preparation,
                            training,
                            built,
                            probes,
                            asked.rerank,
                            asked.mover);
                    isDone = true;
                    table.memoryLimit(asked.memoryLimit);
                    return table;
                } finally {
                    if (!isDone) {
                        locations.close();
                    }
                }
            };
        }

        private Builder copy() {
            Builder copy = new Builder();
            copy.name = name;
            copy.metric = metric;
            copy.nlist = nlist;
            copy.nprobe = nprobe;
            copy.targetRecall = targetRecall;
            copy.seed = seed;
            copy.elementType = elementType;
            copy.codes = codes;
            copy.minCoded = minCoded;
            copy.keepFloats = keepFloats;
            copy.rerank = rerank;
            copy.mover = mover;
            copy.memoryLimit = memoryLimit;
            return copy;
        }

        /**
         * Returns the number of lists of a table for which {@link #nlist} is not set.
         *
         * @param rows number of rows, at least 1
         * @return four times the root of the number of rows, at most that number
         */
        public static int defaultNlist(int rows) {
            return Math.clamp((long) (4 * Math.sqrt(rows)), 1, rows);
        }

        private static int requireLists(String what, int value) {
            Vectors.requireRange(what, value, 1, MappingId.MAX_PER_ORCHESTRATOR);
            return value;
        }
    }
}
