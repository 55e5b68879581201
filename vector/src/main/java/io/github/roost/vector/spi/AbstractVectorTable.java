package io.github.roost.vector.spi;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.TableUse;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The part of a {@link VectorTable} that is the same for all indexes: checks of arguments and of the life cycle, target recalls, the meter of recalls, and closing. An
 * index submits checked requests and frees its memory. Thread-safe.
 */
public abstract class AbstractVectorTable implements VectorTable {
    /** Rows used as queries to measure the effort for a target recall. */
    private static final int SAMPLE = 64;
    /** Fixed, so that the same table gives the same effort each time. */
    private static final long SAMPLE_SEED = 42;

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final Metric metric;
    private final ElementType elementType;
    private final int dimension;
    private final RecallEfforts efforts;
    private final RecallMeter meter;
    /** Changes of the table that have begun. */
    private final LongAdder changes = new LongAdder();

    /**
     * Creates a table.
     *
     * @param orchestrator places the table
     * @param registration the table's mapping ids, which {@link #close} unregisters
     * @param metric the metric of its distances
     * @param elementType the type of the components that searches read
     * @param dimension components per vector, from 1 to 4,096
     */
    protected AbstractVectorTable(
            Orchestrator orchestrator,
            Registration registration,
            Metric metric,
            ElementType elementType,
            int dimension) {
        this.orchestrator = orchestrator;
        this.registration = registration;
        this.metric = metric;
        this.elementType = elementType;
        this.dimension = dimension;
        this.efforts = new RecallEfforts(
                orchestrator,
                this::effortByOwnRows,
                this::size,
                (effort, k) -> Math.clamp(effort, minEffort(k), maxEffort()));
        this.meter = new RecallMeter(
                orchestrator, registration, this::size, changes::sum, this::exact, efforts, System::nanoTime);
    }

    /**
     * Submits a search whose arguments have been checked. Submission checks that the table and the orchestrator are open, once, and throws what
     * {@link VectorTable} says is thrown.
     *
     * @param request a request without a target recall
     * @return as {@link #search(SearchRequest)}
     */
    protected abstract CompletableFuture<SearchResult> submit(SearchRequest request);

    /**
     * Returns the effort of searches that set none.
     *
     * @param k the number of rows, from 1 to 10,000
     * @return a valid effort
     */
    protected abstract int defaultEffort(int k);

    /** {@return the smallest effort, here that of a graph search, which keeps as many rows as it returns} */
    @Override
    public int minEffort(int k) {
        return k;
    }

    /** {@return the largest effort, here that of a graph search} */
    @Override
    public int maxEffort() {
        return Vectors.MAX_EF;
    }

    /** {@return what the effort of this index is called in messages, such as {@code nprobe}; here {@code ef}} */
    protected String effortName() {
        return "ef";
    }

    /**
     * Measures the smallest effort whose searches reach a recall on average.
     *
     * @param recall the target recall, over 0, at most 1
     * @param k the number of rows of a search, at least 1, and at most the number of rows unless the table is empty
     * @param sample checked queries, at least one
     * @return a valid effort
     */
    protected abstract int measureEffort(double recall, int k, float[][] sample);

    /**
     * Returns some of the table's rows, as queries to measure efforts with. The caller holds the table.
     *
     * @param count the number of rows wanted, at least 1
     * @param random chooses the rows
     * @return as many rows or fewer; none if the table is empty
     */
    protected abstract float[][] sampleRows(int count, Random random);

    /**
     * Finds the exact nearest rows of a query in the calling thread, which is a worker that would otherwise be idle.
     *
     * @param request a checked request; filter, radius and effort are ignored
     * @param context its {@code expired} lets searches go first, and is called every few microseconds, at most 50; it is not the context of a
     *     task, and what it is told to be touched is not counted
     * @return the rows
     * @throws io.github.roost.core.DeadlineExceededException if the context has expired
     */
    protected abstract SearchResult exact(SearchRequest request, SearchContext context);

    /** Frees the memory of the closed table; called once, when no thread reads it. */
    protected abstract void free();

    @Override
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check("query", request);
        return meter.watch(request, submitToTarget(request));
    }

    /** Submits a checked request, with or without a target recall. */
    private CompletableFuture<SearchResult> submitToTarget(SearchRequest request) {
        if (Double.isNaN(request.targetRecall())) {
            return submit(request);
        }
        requireOpen("a search");
        return efforts.search(request, this::submit);
    }

    @Override
    public List<CompletableFuture<SearchResult>> searchAll(List<SearchRequest> requests) {
        List<SearchRequest> all = SearchRequest.copyOf(requests);
        for (int i = 0; i < all.size(); i++) {
            check("query " + i, all.get(i));
        }
        requireOpen("a search");
        return meter.watchAll(all, submitAll(all));
    }

    /**
     * Submits searches whose arguments have been checked; one by one, unless an index overrides it.
     *
     * @param requests requests with or without a target recall
     * @return one future per request, in the same order; a refused search has failed
     */
    protected List<CompletableFuture<SearchResult>> submitAll(List<SearchRequest> requests) {
        return requests.stream().map(this::submitOrFail).toList();
    }

    /**
     * Submits one of several searches.
     *
     * @param request a checked request with or without a target recall
     * @return its future; it has failed if the search is refused, since others have begun, whose futures the caller must get
     */
    protected final CompletableFuture<SearchResult> submitOrFail(SearchRequest request) {
        try {
            return submitToTarget(request);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    /**
     * Checks the arguments of a search.
     *
     * @param what names the query in messages
     * @param request the request
     * @throws IllegalArgumentException if the query does not fit the table, or the effort is out of its range
     */
    protected final void check(String what, SearchRequest request) {
        Objects.requireNonNull(request, "request must not be null");
        requireQuery(what, request.query());
        Vectors.requireRange(effortName(), effort(request), minEffort(request.k()), maxEffort());
    }

    /**
     * Checks a query.
     *
     * @param what names the query in the message
     * @param query the query
     * @throws IllegalArgumentException if it is not finite, has another dimension, or is zero for cosine
     */
    protected final void requireQuery(String what, float[] query) {
        Vectors.require(what, query, dimension, metric);
    }

    /**
     * Returns the effort of a request without a target recall.
     *
     * @param request a request
     * @return its effort, or the default
     */
    protected final int effort(SearchRequest request) {
        return request.effortOr(defaultEffort(request.k()));
    }

    @Override
    public int effortFor(double recall, int k, float[][] sample) {
        RecallSample.require(recall, k, sample, dimension, metric);
        requireOpen("a measurement");
        return measureEffort(recall, k, size(), sample);
    }

    private int measureEffort(double recall, int k, int rows, float[][] sample) {
        return Math.max(minEffort(k), measureEffort(recall, Math.clamp(rows, 1, k), sample));
    }

    private int effortByOwnRows(double recall, int k) {
        int rows = size();
        float[][] sample;
        try (var _ = use()) {
            sample = sampleRows(SAMPLE, new Random(SAMPLE_SEED));
        }
        if (sample.length == 0) {
            return defaultEffort(k);
        }
        int effort = RecallSample.effortByOwnRows(
                recall, k, rows, (target, withItself) -> measureEffort(target, withItself, rows, sample));
        return Math.max(minEffort(k), effort);
    }

    /**
     * Chooses rows at random.
     *
     * @param rows the number of rows to choose from, at least 0
     * @param count the maximum number of rows to choose, at least 1
     * @param random chooses them
     * @return different numbers of rows, from 0 to {@code rows} exclusive
     */
    protected static IntStream chooseRows(int rows, int count, Random random) {
        return random.ints(0, Math.max(1, rows)).distinct().limit(Math.min(count, rows));
    }

    /**
     * Tells that a search has ended that was not submitted through {@link #search}, so that its recall may be measured.
     *
     * @param request the request
     * @param found the result, before anybody else can change it
     * @return the result
     */
    protected final SearchResult searched(SearchRequest request, SearchResult found) {
        return meter.searched(request, found);
    }

    /** Forgets the efforts and recalls that were measured on rows that have been replaced. */
    protected final void forgetMeasurements() {
        // A search of the old rows that is about to be repeated does not count.
        changes.add(size());
        efforts.clear();
        meter.clear();
    }

    /** {@return the measured recall of the table's searches; null if none has been measured} */
    protected final Registration.@Nullable Recall recall() {
        return registration.recall();
    }

    /** {@return the orchestrator that places the table} */
    protected final Orchestrator orchestrator() {
        return orchestrator;
    }

    /**
     * Checks that the table is open.
     *
     * @throws TableClosedException if it is closed
     */
    protected void requireOpen() {
        if (!registration.isOpen()) {
            throw new TableClosedException(name());
        }
    }

    /**
     * Checks that the table and the orchestrator are open.
     *
     * @param what the work that is about to begin, for the message
     */
    protected final void requireOpen(String what) {
        requireOpen();
        orchestrator.indexing().requireOpen(what);
    }

    /**
     * Registers this thread as a user of the table: its memory and files stay until the hold is closed.
     *
     * @return the hold, to be closed by this thread
     * @throws TableClosedException if the table is closed
     */
    protected TableUse.Hold use() {
        return registration.use().hold();
    }

    /**
     * As {@link #use}, for a change. Refused if the orchestrator is closed, because the work that follows the change would never run.
     *
     * @return the hold, to be closed by this thread
     */
    protected final TableUse.Hold change() {
        changeBegins();
        return use();
    }

    /** Counts a change. Refused if the table or the orchestrator is closed. */
    protected final void changeBegins() {
        requireOpen("a change");
        changes.increment();
    }

    @Override
    public final Registration registration() {
        return registration;
    }

    @Override
    public final String name() {
        return registration.name();
    }

    @Override
    public final int dimension() {
        return dimension;
    }

    @Override
    public final Metric metric() {
        return metric;
    }

    @Override
    public ElementType elementType() {
        return elementType;
    }

    @Override
    public void close() {
        orchestrator.indexing().closeTable(registration, this::free);
    }

    @Override
    public String toString() {
        return stats().toString();
    }
}
