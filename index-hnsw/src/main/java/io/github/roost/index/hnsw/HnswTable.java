package io.github.roost.index.hnsw;

import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.roost.core.MappingId;
import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.Vectors;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * One HNSW table (Malkov and Yashunin, IEEE TPAMI 42(4), 2020): a graph that jvector builds and searches, placed by an
 * orchestrator as one mapping id. One query is one task:
 *
 * <pre>{@code
 * HnswTable table = HnswTable.builder().name("products").build(orchestrator, vectors);
 * CompletableFuture<Neighbors> answer =
 *         orchestrator.submit(table.searchFunction(10, 64), query, table.mappingId());
 * }</pre>
 *
 * <p>Every worker keeps a searcher of its own, so searches share nothing that is written. Thread-safe.
 */
public final class HnswTable implements AutoCloseable {
    /** Up to this many nodes for each unit of ef a table is searched exactly. */
    private static final int EXACT_PER_EF = 4;

    private final Registration registration;
    private final Orchestrator orchestrator;
    private final Metric metric;
    private final int dimension;
    private final int m;
    /** What each node of the graph stands for. */
    private final DistinctRows rows;

    private final GraphSpace space;
    private final ImmutableGraphIndex graph;
    /** One a worker, made at its first search; each is touched by its worker's thread alone. */
    private final @Nullable GraphSearcher[] searchers;

    HnswTable(
            Orchestrator orchestrator,
            String name,
            Metric metric,
            int dimension,
            int m,
            DistinctRows rows,
            GraphSpace space,
            ImmutableGraphIndex graph) {
        this.orchestrator = orchestrator;
        this.registration = orchestrator.register(name);
        this.metric = metric;
        this.dimension = dimension;
        this.m = m;
        this.rows = rows;
        this.space = space;
        this.graph = graph;
        this.searchers = new GraphSearcher[orchestrator.workers()];
    }

    /** A builder with every option at its default. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * A search to submit under {@link #mappingId()}.
     *
     * @param k neighbours wanted, from 1 to 10,000; a table with fewer vectors gives all it has
     * @param ef width of the search, from k to 100,000: larger finds more of the true neighbours and takes longer
     */
    public SearchFunction<float[], Neighbors> searchFunction(int k, int ef) {
        Vectors.requireRange("k", k, 1, Vectors.MOST_NEIGHBORS);
        Vectors.requireRange("ef", ef, k, 100_000);
        return (query, context) -> search(query, k, ef, context);
    }

    /** Submits one search; as {@link #searchFunction}. The query must be finite, of the table's dimension. */
    public CompletableFuture<Neighbors> search(float[] query, int k, int ef) {
        Vectors.require("query", query, dimension, metric);
        return orchestrator.submit(searchFunction(k, ef), query, mappingId());
    }

    private Neighbors search(float[] values, int k, int ef, SearchContext context) {
        Vectors.require("query", values, dimension, metric);
        GraphSpace.Query query = space.query(values);
        ListRandomAccessVectorValues vectors = space.rows();
        // A walk of this width would look at most nodes of a small graph anyway: looking at all of them is exact.
        boolean small = vectors.size() <= EXACT_PER_EF * (long) ef;
        int[] nodes;
        long visited;
        if (small) {
            nodes = IntStream.range(0, vectors.size()).toArray();
            visited = nodes.length;
        } else {
            SearchResult result = searcher(context.worker())
                    .search(
                            DefaultSearchScoreProvider.exact(query.vector(), space.similarity(), vectors),
                            k,
                            ef,
                            0f,
                            0f,
                            Bits.ALL);
            nodes = Arrays.stream(result.getNodes())
                    .mapToInt(found -> found.node)
                    .toArray();
            visited = result.getVisitedCount();
        }
        // The paper's estimate: N nodes, each a vector and a list of M neighbours.
        context.touched(visited, visited * (vectors.dimension() * (long) Float.BYTES + m * (long) Integer.BYTES));
        return nearest(query, nodes, k);
    }

    private GraphSearcher searcher(int worker) {
        if (worker < 0) {
            return new GraphSearcher(graph);
        }
        GraphSearcher searcher = searchers[worker];
        if (searcher == null) {
            searcher = new GraphSearcher(graph);
            searchers[worker] = searcher;
        }
        return searcher;
    }

    /** The k nearest of some nodes. jvector's scores are of a scale of its own: the distances are computed anew. */
    private Neighbors nearest(GraphSpace.Query query, int[] nodes, int k) {
        long[] found = new long[nodes.length];
        float[] distances = new float[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            found[i] = nodes[i];
            distances[i] = space.distance(query, nodes[i]);
        }
        return space.toCaller(query, rows.expand(Neighbors.merge(List.of(Neighbors.sorted(found, distances)), k), k));
    }

    /** The table's name. */
    public String name() {
        return registration.name();
    }

    /** Where searches of this table belong. */
    public MappingId mappingId() {
        return registration.id();
    }

    /** Number of vectors. */
    public int size() {
        return rows.rows();
    }

    /** Dimension of the vectors. */
    public int dimension() {
        return dimension;
    }

    /** How distances are measured. */
    public Metric metric() {
        return metric;
    }

    /** Unregisters the table; searches already accepted still run. */
    @Override
    public void close() {
        registration.close();
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private String name = "hnsw";
        private Metric metric = Metric.SQUARED_L2;
        private int m = 16;
        private int efConstruction = 200;

        private Builder() {}

        /** The name under which the table shows in reports; default {@code hnsw}. */
        public Builder name(String value) {
            this.name = value;
            return this;
        }

        /** How distances are measured; default squared L2. */
        public Builder metric(Metric value) {
            this.metric = value;
            return this;
        }

        /** Neighbours a node keeps, from 2 to 256; default 16. */
        public Builder m(int value) {
            Vectors.requireRange("m", value, 2, 256);
            this.m = value;
            return this;
        }

        /** Width of the searches that find a new node's neighbours, from 1 to 10,000; default 200. */
        public Builder efConstruction(int value) {
            Vectors.requireRange("efConstruction", value, 1, 10_000);
            this.efConstruction = value;
            return this;
        }

        /** Builds a table whose ids are the rows' ordinals. */
        public HnswTable build(Orchestrator orchestrator, float[][] rows) {
            return build(orchestrator, LongStream.range(0, rows.length).toArray(), rows);
        }

        /**
         * Builds a table on the orchestrator's workers, as batch work beside what they serve.
         *
         * @param ids one external id a row, none twice
         * @param rows at least one, all of one dimension from 1 to 4,096, finite; not copied: they must not change
         * @throws IllegalArgumentException if a row or id is not as said
         */
        public HnswTable build(Orchestrator orchestrator, long[] ids, float[][] rows) {
            int dimension = Vectors.requireTable(rows, metric);
            Vectors.requireIds(ids, rows.length);
            DistinctRows distinct = DistinctRows.of(ids, rows);
            GraphSpace space = GraphSpace.of(distinct.vectors(rows), metric);
            ImmutableGraphIndex graph =
                    new GraphBuild(orchestrator, name, space.rows(), space.similarity(), m, efConstruction).run();
            return new HnswTable(orchestrator, name, metric, dimension, m, distinct, space, graph);
        }
    }
}
