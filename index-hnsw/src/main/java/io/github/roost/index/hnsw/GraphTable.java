package io.github.roost.index.hnsw;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.spi.TableUse;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Neighbors;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.MemoryLimit;
import io.github.roost.vector.spi.RecallEfforts;
import io.github.roost.vector.spi.RecallSample;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The search side of graph tables: one query is one task. A search checks at least every 50 us whether its deadline has passed or
 * its future was cancelled; then it ends with a {@link io.github.roost.core.DeadlineExceededException}. Thread-safe.
 */
abstract sealed class GraphTable implements VectorTable permits HnswTable, LiveTable {
    private static final int MIN_DEFAULT_EF = 100;
    /** Rows used as queries to measure the ef for a target recall. */
    private static final int SAMPLE = 64;
    /** Fixed, so that the same table gives the same ef each time. */
    private static final long SAMPLE_SEED = 42;

    /** The context of sample searches, which do not count as traffic of the table. */
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final Metric metric;
    private final ElementType elementType;
    private final int dimension;
    private final MemoryLimit limit = new MemoryLimit();
    private final RecallEfforts efforts;
    private final SearchFunction<SearchRequest, SearchResult> search = this::find;

    GraphTable(
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
        this.efforts = new RecallEfforts(orchestrator, this::effortByOwnRows, this::size);
    }

    /** Finds the k nearest rows that a filter allows; the arguments have been checked. */
    abstract Neighbors find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit);

    /** Finds the k nearest rows by an exhaustive scan. */
    abstract Neighbors exact(float[] query, int k, GraphVisit visit);

    /** The vector of a row, numbered in memory order, or null if the row is deleted. */
    abstract float @Nullable [] vectorAt(int row);

    /** The number of rows, deleted ones included. */
    abstract int rows();

    Orchestrator orchestrator() {
        return orchestrator;
    }

    /** Forgets the efforts that were measured on the old rows. */
    void rowsReplaced() {
        efforts.clear();
    }

    static void requireWidth(int k, int ef) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("ef", ef, k, Vectors.MAX_EF);
    }

    void requireOpen() {
        if (!registration.isOpen()) {
            throw new TableClosedException(name());
        }
    }

    /** Registers this thread as a user of the table: the memory is not freed until the hold is closed. */
    TableUse.Hold use() {
        return registration.use().hold();
    }

    /** As {@link #use}, for a change. Refused if the orchestrator is closed, because the change would never be merged. */
    TableUse.Hold change() {
        requireOpen();
        orchestrator.indexing().requireOpen("a change");
        return use();
    }

    void requireQuery(float[] query) {
        Vectors.require("query", query, dimension, metric);
    }

    private static int defaultEf(int k) {
        return Math.max(MIN_DEFAULT_EF, 2 * k);
    }

    @Override
    public CompletableFuture<SearchResult> search(SearchRequest request) {
        check(request);
        requireOpen();
        orchestrator.indexing().requireOpen();
        return efforts.search(request, this::submit);
    }

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
            // Other searches of the list have begun: the caller must get their futures.
            return CompletableFuture.failedFuture(refused);
        }
    }

    private void check(SearchRequest request) {
        Objects.requireNonNull(request, "request must not be null");
        requireQuery(request.query());
        requireWidth(request.k(), request.effortOr(defaultEf(request.k())));
    }

    private CompletableFuture<SearchResult> submit(SearchRequest request) {
        return orchestrator.submit(search, request, mappingId(request.query()), request.options());
    }

    /**
     * A search as part of a fan-out: to search several tables, or to process the result on the same worker.
     *
     * @param request the search; without an effort the table's default is used, and a target recall is ignored. The deadline and
     *     priority are set by the fan-out
     * @return the part, to be submitted once or several times while the table is open
     */
    public Part<SearchRequest, SearchResult> part(SearchRequest request) {
        check(request);
        return new Part<>(search, request, mappingId(request.query()));
    }

    private SearchResult find(SearchRequest request, SearchContext context) {
        GraphVisit visit = new GraphVisit(context, request.visitLimit());
        int k = request.k();
        Neighbors found = find(request.query(), k, request.effortOr(defaultEf(k)), request.filter(), visit)
                .within(request.radius());
        return new SearchResult(found, visit.cost(), visit.isCutShort());
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k) {
        return search(query, k, defaultEf(k));
    }

    @Override
    public CompletableFuture<Neighbors> search(float[] query, int k, int effort) {
        requireQuery(query);
        requireWidth(k, effort);
        return orchestrator.submit(function(k, effort, IdFilter.all()), query, mappingId(query));
    }

    @Override
    public SearchFunction<float[], Neighbors> searchFunction(int k, int effort) {
        return searchFunction(k, effort, IdFilter.all());
    }

    /**
     * A filtered search; otherwise as {@link #searchFunction(int, int)}. The graph search traverses all nodes and keeps the allowed
     * ones. If so few rows are allowed that an exhaustive scan of them is cheaper, they are scanned, and the result is exact.
     *
     * @param k max number of rows, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param filter the rows that may be found
     * @return the function to submit
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int ef, IdFilter filter) {
        requireWidth(k, ef);
        SearchFunction<float[], Neighbors> function = function(k, ef, filter);
        return (query, context) -> {
            // The function may run outside a task of this table, so it holds the table itself.
            try (var _ = registration.use().holdFromInside()) {
                return function.search(query, context);
            }
        };
    }

    private SearchFunction<float[], Neighbors> function(int k, int ef, IdFilter filter) {
        return (query, context) -> {
            requireQuery(query);
            return find(query, k, ef, filter, new GraphVisit(context));
        };
    }

    @Override
    public int effortFor(double recall, int k, float[][] sample) {
        RecallSample.require(recall, k, sample, dimension, metric);
        requireOpen();
        orchestrator.indexing().requireOpen("a measurement");
        return Math.max(k, effort(recall, Math.clamp(size(), 1, k), sample));
    }

    @Override
    public int minEffort(int k) {
        return k;
    }

    private int effort(double recall, int k, float[][] sample) {
        RecallSample measured = new RecallSample(
                sample, query -> inBatch((asked, context) -> exact(asked, k, new GraphVisit(UNCOUNTED)), query));
        return measured.minEffort(
                k,
                Vectors.MAX_EF,
                recall,
                ef -> query -> inBatch(
                        (asked, context) -> find(asked, k, ef, IdFilter.all(), new GraphVisit(UNCOUNTED)), query));
    }

    private CompletableFuture<Neighbors> inBatch(SearchFunction<float[], Neighbors> sampled, float[] query) {
        return orchestrator.submit(sampled, query, mappingId(), SubmitOptions.BATCH);
    }

    private int effortByOwnRows(double recall, int k) {
        float[][] sample = ownRows();
        if (sample.length == 0) {
            return defaultEf(k);
        }
        return Math.max(
                k,
                RecallSample.effortByOwnRows(
                        recall, k, size(), (target, withItself) -> effort(target, withItself, sample)));
    }

    private float[][] ownRows() {
        try (var _ = use()) {
            return new Random(SAMPLE_SEED)
                    .ints(0, Math.max(1, rows()))
                    .distinct()
                    .limit(Math.min(SAMPLE, rows()))
                    .mapToObj(this::vectorAt)
                    .filter(vector -> vector != null)
                    .toArray(float[][]::new);
        }
    }

    /** {@return the mapping id for searches whose query is not known; any search of this table may be submitted under it} */
    public MappingId mappingId() {
        return registration.id(0);
    }

    /**
     * The mapping id for a search. A table that is larger than a domain's cache may have one mapping id per region.
     *
     * @param query of the table's dimension
     * @return the mapping id of the region nearest to the query; {@link #mappingId()} if the table has one region
     */
    public MappingId mappingId(float[] query) {
        return mappingId();
    }

    @Override
    public void memoryLimit(long bytes) {
        limit.set(bytes);
    }

    @Override
    public long memoryLimit() {
        return limit.bytes();
    }

    MemoryLimit limit() {
        return limit;
    }

    @Override
    public Registration registration() {
        return registration;
    }

    @Override
    public String name() {
        return registration.name();
    }

    @Override
    public int dimension() {
        return dimension;
    }

    @Override
    public Metric metric() {
        return metric;
    }

    @Override
    public ElementType elementType() {
        return elementType;
    }

    @Override
    public String toString() {
        return stats().toString();
    }
}
