package io.github.roost.index.hnsw;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Part;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.memory.MemoryLimit;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.RecallSample;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * The search side of graph tables: one query is one task. A search checks at least every 50 us whether its deadline has passed or
 * its future was cancelled; then it ends with a {@link io.github.roost.core.DeadlineExceededException}. Thread-safe.
 */
abstract sealed class GraphTable extends AbstractVectorTable implements MemoryLimited permits HnswTable, LiveTable {
    /** The context of sample searches, which do not count as traffic of the table. */
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final MemoryLimit limit = new MemoryLimit();
    private final TableSearch search;

    GraphTable(
            Orchestrator orchestrator,
            Registration registration,
            Metric metric,
            ElementType elementType,
            int dimension,
            TableSearch search) {
        super(orchestrator, registration, metric, elementType, dimension);
        this.search = search;
    }

    @Override
    protected int defaultEffort(int k) {
        return TableSearch.defaultEf(k);
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        return orchestrator().submit(search, request, mappingId(request.query()), request.options());
    }

    /**
     * A search as part of a fan-out: to search several tables, or to process the result on the same worker.
     *
     * @param request the search; without an effort the table's default is used, and a target recall is ignored. The deadline and
     *     priority are set by the fan-out
     * @return the part, to be submitted once or several times while the table is open
     */
    public Part<SearchRequest, SearchResult> part(SearchRequest request) {
        check("query", request);
        return new Part<>(
                (same, context) -> searched(same, search.search(same, context)),
                request.effort(effort(request)),
                mappingId(request.query()));
    }

    /**
     * Returns a search function for {@link Orchestrator#submit}, with the results of {@link #search(float[], int, int)}. It is submitted under an
     * id of {@link #registration()}, alone or in a fan-out, or called in a thread that is not a worker, with a {@link SearchContext#outside}
     * context.
     *
     * @param k the maximum number of rows, from 1 to 10,000
     * @param ef width of the search, from k to 100,000
     * @return the search function; it throws the exceptions of a search of this table
     */
    public SearchFunction<float[], SearchResult> searchFunction(int k, int ef) {
        return searchFunction(k, ef, IdFilter.all());
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
    public SearchFunction<float[], SearchResult> searchFunction(int k, int ef, IdFilter filter) {
        Graph.requireWidth(k, ef);
        return (query, context) -> {
            requireQuery("query", query);
            GraphVisit visit = new GraphVisit(context);
            // The function may run outside a task of this table, so it holds the table itself.
            try (var _ = registration().use().holdFromInside()) {
                return search.find(query, k, ef, filter, visit).with(visit.cost(), visit.isCutShort());
            }
        };
    }

    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        RecallSample measured = new RecallSample(
                sample, query -> inBatch((same, context) -> search.exact(same, k, new GraphVisit(UNCOUNTED)), query));
        return measured.minEffort(
                k,
                Vectors.MAX_EF,
                recall,
                ef -> query -> inBatch(
                        (same, context) -> search.find(same, k, ef, IdFilter.all(), new GraphVisit(UNCOUNTED)), query));
    }

    @Override
    protected SearchResult exact(SearchRequest request, SearchContext context) {
        return search.exact(request.query(), request.k(), new GraphVisit(context));
    }

    private CompletableFuture<SearchResult> inBatch(SearchFunction<float[], SearchResult> sampled, float[] query) {
        return orchestrator().submit(sampled, query, mappingId(), SubmitOptions.BATCH);
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        return chooseRows(search.rows(), count, random)
                .mapToObj(search::vector)
                .filter(Objects::nonNull)
                .toArray(float[][]::new);
    }

    /** {@return the mapping id for searches whose query is not known; any search of this table may be submitted under it} */
    public MappingId mappingId() {
        return registration().id(0);
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
}
