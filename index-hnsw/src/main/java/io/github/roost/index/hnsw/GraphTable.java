package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Vectors;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableClosedException;
import io.github.roost.core.task.TableUse;
import io.github.roost.core.vector.ElementType;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.MemoryLimit;
import io.github.roost.core.vector.RecallEfforts;
import io.github.roost.core.vector.RecallSample;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.core.vector.VectorTable;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * How tables of graphs are searched: one query is one task. A search looks every 50 us at most whether its result is still
 * wanted, and ends with a {@link io.github.roost.core.task.DeadlineExceededException} where it is not. Thread-safe.
 */
abstract sealed class GraphTable implements VectorTable permits HnswTable, LiveTable {
    private static final int MAX_EF = 100_000;
    private static final int MIN_DEFAULT_EF = 100;
    /** Rows that are queries where a search asks for a recall. */
    private static final int SAMPLE = 64;
    /** The same rows each time, so that the same table gives the same effort. */
    private static final long SAMPLE_SEED = 42;

    /** The searches of a sample are no traffic of the table. */
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final Orchestrator orchestrator;
    private final Registration registration;
    private final Metric metric;
    private final ElementType elementType;
    private final int dimension;
    private final MemoryLimit limit = new MemoryLimit();
    private final RecallEfforts efforts = new RecallEfforts(this::effortByOwnRows, this::size);
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
    }

    /** The k nearest rows that a filter allows; the arguments have been checked. */
    abstract Neighbors find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit);

    /** The k nearest rows, by looking at each. */
    abstract Neighbors exact(float[] query, int k, GraphVisit visit);

    /** The vector of a row, counted as they lie in memory, or null where it has been deleted. */
    abstract float @Nullable [] vectorAt(int row);

    /** One more than the number of the last row, deleted ones included. */
    abstract int rows();

    Orchestrator orchestrator() {
        return orchestrator;
    }

    /** The rows are others than before. */
    void rowsReplaced() {
        efforts.clear();
    }

    static void requireWidth(int k, int ef) {
        Vectors.requireRange("k", k, 1, Vectors.MAX_NEIGHBORS);
        Vectors.requireRange("ef", ef, k, MAX_EF);
    }

    void requireOpen() {
        if (!registration.isOpen()) {
            throw new TableClosedException(name());
        }
    }

    /** Uses the table in this thread: its memory stays until the hold is closed. */
    TableUse.Hold use() {
        return registration.use().hold();
    }

    /** {@link #use} for a change, which a closed orchestrator would never merge. */
    TableUse.Hold change() {
        requireOpen();
        orchestrator.indexing().requireOpen();
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
        requireQuery(request.query());
        requireWidth(request.k(), request.effortOr(defaultEf(request.k())));
    }

    private CompletableFuture<SearchResult> submit(SearchRequest request) {
        return orchestrator.submit(search, request, mappingId(request.query()), request.options());
    }

    /**
     * The search as a part of a fan-out, of several tables or with something done to its result by the same worker.
     *
     * @param request what to find; with the table's default effort where it gives none: a target recall is not measured here. Deadline and
     *     priority are those of the fan-out
     * @return to be submitted once or several times, while the table is open
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
     * A search that finds only what a filter allows; as {@link #searchFunction(int, int)}. The search goes through all nodes
     * and keeps the allowed ones; where so few are allowed that it would take longer than looking at every one of them, that is
     * done instead, and the result is exact.
     *
     * @param k how many rows at most, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @param filter which rows may be found
     * @return what to run
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int ef, IdFilter filter) {
        requireWidth(k, ef);
        SearchFunction<float[], Neighbors> function = function(k, ef, filter);
        return (query, context) -> {
            // Whoever runs it need not be a task of this table.
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
        RecallSample.requireRecall(recall);
        requireWidth(k, k);
        if (sample.length == 0) {
            throw new IllegalArgumentException("the sample must have at least one query, got none");
        }
        for (int query = 0; query < sample.length; query++) {
            Vectors.require("query " + query, sample[query], dimension, metric);
        }
        requireOpen();
        return Math.max(k, effort(recall, Math.clamp(size(), 1, k), sample));
    }

    private int effort(double recall, int k, float[][] sample) {
        RecallSample measured = new RecallSample(
                sample, query -> inBatch((asked, context) -> exact(asked, k, new GraphVisit(UNCOUNTED)), query));
        return measured.leastEffort(
                k,
                MAX_EF,
                recall,
                ef -> query -> inBatch(
                        (asked, context) -> find(asked, k, ef, IdFilter.all(), new GraphVisit(UNCOUNTED)), query));
    }

    private CompletableFuture<Neighbors> inBatch(SearchFunction<float[], Neighbors> sampled, float[] query) {
        return orchestrator.submit(sampled, query, mappingId(), SubmitOptions.BATCH);
    }

    /** By rows as queries: each finds itself too, so one neighbour more is looked for, which every search finds. */
    private int effortByOwnRows(double recall, int k) {
        float[][] sample = ownRows();
        if (sample.length == 0) {
            return defaultEf(k);
        }
        int withItself = Math.min(Math.min(k + 1, Vectors.MAX_NEIGHBORS), size());
        double target = (recall * (withItself - 1) + 1) / withItself;
        return Math.max(k, effort(target, withItself, sample));
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

    /** {@return where searches of this table belong whose query is not known; any may be submitted there} */
    public MappingId mappingId() {
        return registration.id(0);
    }

    /**
     * Where a search belongs: a table that is larger than a domain's cache may have a mapping id for each of several regions.
     *
     * @param query of the table's dimension
     * @return the mapping id of the region that the query is nearest to; {@link #mappingId()} where there is one
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
