package io.github.roost.index.jvector;

import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult.NodeScore;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndex;
import io.github.jbellis.jvector.graph.disk.feature.FeatureId;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.SubmitOptions;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.TableStats;
import io.github.roost.vector.Vectors;
import io.github.roost.vector.spi.AbstractVectorTable;
import io.github.roost.vector.spi.RecallSample;
import io.github.roost.vector.spi.ScratchPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A table of a jvector graph, on the heap or on disk. jvector's {@code GraphSearcher} searches the graph on the workers of the table's home:
 *
 * <pre>{@code
 * JvectorTable table = JvectorTable.builder().name("products").build(orchestrator, graph, vectors);
 * CompletableFuture<SearchResult> answer = table.search(query, 10);
 * }</pre>
 *
 * <p>Neither graph nor vectors are copied. They stay the caller's, who closes them after the table, and must not change while the table is
 * open: {@link #close} closes the searchers and their views of the graph, nothing else. Nodes that are marked as deleted when the table is
 * built are not rows.
 *
 * <p>A search finds what jvector finds with the exact score function, no threshold, and {@code rerankK} equal to the effort (ef, by default
 * max(100, 2 k)). Rows have distances for jvector's scores: 1 / score - 1 for {@link Metric#SQUARED_L2} ({@code EUCLIDEAN}), 1 - 2 score for
 * {@link Metric#INNER_PRODUCT} ({@code DOT_PRODUCT}), and 2 - 2 score for {@link Metric#COSINE}, rounded to float. A score has 24 bits, so a
 * squared L2 distance d is within about 1e-7 (1 + d) of the exact one. Rows of one distance are ordered by id.
 *
 * <p>As in jvector, a filter that allows few rows makes a search visit more of the graph, up to all of it, so such a search is best given a
 * {@linkplain SearchRequest#visitLimit visit limit} or timeout. The timeout is checked every 32 vectors, the visit limit at every node whose
 * neighbors are to be read.
 *
 * <p>The table has one mapping id. Its traffic is the vectors compared and the neighbor lists read. Thread-safe.
 */
public final class JvectorTable extends AbstractVectorTable {
    private static final int MIN_DEFAULT_EF = 100;

    /** The context of sample searches, which do not count as traffic of the table. */
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private final ImmutableGraphIndex graph;
    private final GraphRows rows;
    private final ScratchPool<Searcher> searchers;
    private final SearchFunction<SearchRequest, SearchResult> search = this::find;

    private JvectorTable(
            Orchestrator orchestrator,
            String name,
            Metric metric,
            ImmutableGraphIndex graph,
            GraphRows rows,
            ScratchPool<Searcher> searchers) {
        super(orchestrator, orchestrator.register(name), metric, ElementType.FLOAT32, graph.getDimension());
        this.graph = graph;
        this.rows = rows;
        this.searchers = searchers;
    }

    /** {@return a builder with every option at its default} */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    protected CompletableFuture<SearchResult> submit(SearchRequest request) {
        return orchestrator().submit(search, request, registration().id(0), request.options());
    }

    private SearchResult find(SearchRequest request, SearchContext context) {
        return withSearcher(searcher -> found(
                        searcher,
                        searcher.search(
                                request.query(),
                                request.k(),
                                effort(request),
                                accepted(request.filter()),
                                request.visitLimit(),
                                context))
                .within(request.radius()));
    }

    private Bits accepted(IdFilter filter) {
        return filter == IdFilter.all() ? Bits.ALL : ordinal -> filter.allows(rows.id(ordinal));
    }

    private SearchResult found(Searcher searcher, NodeScore[] nodes) {
        long[] ids = new long[nodes.length];
        float[] distances = new float[nodes.length];
        for (int i = 0; i < nodes.length; i++) {
            ids[i] = rows.id(nodes[i].node);
            distances[i] = Scores.distance(metric(), nodes[i].score);
        }
        return SearchResult.sorted(ids, distances).with(searcher.cost(), searcher.isCutShort());
    }

    /** Uses a searcher that no other thread uses meanwhile. */
    @FunctionalInterface
    private interface Use<R, E extends Exception> {
        R with(Searcher searcher) throws E;
    }

    private <R, E extends Exception> R withSearcher(Use<R, E> use) throws E {
        Searcher searcher = searchers.take();
        try {
            return use.with(searcher);
        } finally {
            if (!searchers.giveBack(searcher)) {
                close(searcher);
            }
        }
    }

    private static void close(Searcher searcher) {
        try {
            searcher.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected int defaultEffort(int k) {
        return Math.max(MIN_DEFAULT_EF, 2 * k);
    }

    @Override
    protected int measureEffort(double recall, int k, float[][] sample) {
        RecallSample measured =
                new RecallSample(sample, query -> inBatch(query, searcher -> searcher.scan(query, k, rows, UNCOUNTED)));
        return measured.minEffort(
                k,
                Vectors.MAX_EF,
                recall,
                ef -> query ->
                        inBatch(query, searcher -> searcher.search(query, k, ef, Bits.ALL, Long.MAX_VALUE, UNCOUNTED)));
    }

    @Override
    protected SearchResult exact(SearchRequest request, SearchContext context) {
        return withSearcher(searcher -> found(searcher, searcher.scan(request.query(), request.k(), rows, context)));
    }

    private CompletableFuture<SearchResult> inBatch(float[] query, Function<Searcher, NodeScore[]> sampled) {
        SearchFunction<float[], SearchResult> measured =
                (same, context) -> withSearcher(searcher -> found(searcher, sampled.apply(searcher)));
        return orchestrator().submit(measured, query, registration().id(0), SubmitOptions.BATCH);
    }

    @Override
    protected float[][] sampleRows(int count, Random random) {
        return withSearcher(searcher -> chooseRows(size(), count, random)
                .mapToObj(row -> floats(searcher.vector(rows.ordinalAt(row))))
                .toArray(float[][]::new));
    }

    private float[] floats(VectorFloat<?> vector) {
        float[] floats = new float[dimension()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = vector.get(i);
        }
        return floats;
    }

    /**
     * Returns the vector of a row as the caller stores it, not normalized.
     *
     * @param id external id
     * @return a copy, or null if there is no row with this id
     */
    @Override
    public float @Nullable [] vector(long id) {
        try (var _ = use()) {
            int ordinal = rows.ordinal(id);
            return ordinal < 0 ? null : withSearcher(searcher -> floats(searcher.vector(ordinal)));
        }
    }

    @Override
    public int size() {
        return rows.size();
    }

    /** {@return the table's statistics; it has no memory of its own, so bytes are 0} */
    @Override
    public TableStats stats() {
        return new TableStats(name(), "jvector", size(), dimension(), metric(), elementType(), 1, 0, recall());
    }

    /**
     * Writes the graph and its vectors to a file of jvector's own format, which {@code OnDiskGraphIndex.load} reads. Nodes keep their ordinals;
     * external ids are not written. Replaces an existing file atomically: after a crash the old or the new file is there, whole.
     *
     * @param file the file to write or replace
     * @throws IOException if the file cannot be written; the old file is unchanged, unless only the last sync failed
     * @throws IllegalArgumentException if jvector cannot write the graph: nodes are marked as deleted ({@code GraphIndexBuilder.cleanup} removes
     *     them), or it is on disk and its ordinals have holes
     */
    @Override
    public void save(Path file) throws IOException {
        if (graph instanceof OnDiskGraphIndex && rows.size() < rows.bound()) {
            throw new IllegalArgumentException("jvector cannot write a graph on disk whose ordinals have holes, got "
                    + rows.size() + " rows of " + rows.bound() + " ordinals: copy its file instead");
        }
        try (var _ = use()) {
            var _ = withSearcher(searcher -> GraphFile.save(file, graph, rows, searcher));
        }
    }

    @Override
    protected void free() {
        for (Searcher kept = searchers.takeKept(); kept != null; kept = searchers.takeKept()) {
            close(kept);
        }
    }

    /** Collects the options of a table. Not thread-safe. */
    public static final class Builder {
        private String name = "jvector";
        private Metric metric = Metric.SQUARED_L2;
        private long @Nullable [] ids;

        private Builder() {}

        /**
         * Sets the table's name in reports.
         *
         * @param value default {@code jvector}
         * @return this builder
         */
        public Builder name(String value) {
            name = Objects.requireNonNull(value, "name must not be null");
            return this;
        }

        /**
         * Sets the metric, which must be that of the similarity function that the graph was built with; jvector does not store it.
         *
         * @param value default {@link Metric#SQUARED_L2}, for {@code EUCLIDEAN}
         * @return this builder
         */
        public Builder metric(Metric value) {
            metric = Objects.requireNonNull(value, "metric must not be null");
            return this;
        }

        /**
         * Sets the external ids of the rows.
         *
         * @param value one per ordinal, from 0 to the graph's {@code getIdUpperBound()} exclusive, those of live nodes all different; not
         *     copied, must not change while the table is open. By default an ordinal is its own id
         * @return this builder
         */
        public Builder ids(long[] value) {
            ids = Objects.requireNonNull(value, "ids must not be null");
            return this;
        }

        /**
         * Makes a table of a graph and its vectors.
         *
         * @param orchestrator places the table
         * @param graph of 1 to 4,096 dimensions, fully built
         * @param vectors the vector of each ordinal; used by several threads as jvector does, through {@code copy()} if values are shared.
         *     Components must be finite, and no vector zero for cosine: they are not checked
         * @return the table, to be closed before graph and vectors are
         * @throws IllegalArgumentException if vectors or ids do not fit the graph
         */
        public JvectorTable build(
                Orchestrator orchestrator, ImmutableGraphIndex graph, RandomAccessVectorValues vectors) {
            Objects.requireNonNull(graph, "graph must not be null");
            Objects.requireNonNull(vectors, "vectors must not be null");
            if (vectors.dimension() != graph.getDimension()) {
                throw new IllegalArgumentException("vectors must have the graph's " + graph.getDimension()
                        + " dimensions, got " + vectors.dimension());
            }
            if (vectors instanceof OnDiskGraphIndex.View) {
                // It says that its values are not shared, but its reader has one position.
                throw new IllegalArgumentException(
                        "a view of a graph must not be used by several threads: build the table of the graph alone");
            }
            return table(orchestrator, graph, vectors);
        }

        /**
         * Makes a table of a graph on disk that has its vectors in the same file.
         *
         * @param orchestrator places the table
         * @param graph of 1 to 4,096 dimensions, with the feature {@code INLINE_VECTORS} or {@code SEPARATED_VECTORS}
         * @return the table, to be closed before the graph and its {@code ReaderSupplier} are
         * @throws IllegalArgumentException if the graph has no vectors, or the ids do not fit it
         */
        public JvectorTable build(Orchestrator orchestrator, OnDiskGraphIndex graph) {
            Objects.requireNonNull(graph, "graph must not be null");
            if (!graph.getFeatureSet().contains(FeatureId.INLINE_VECTORS)
                    && !graph.getFeatureSet().contains(FeatureId.SEPARATED_VECTORS)) {
                throw new IllegalArgumentException(
                        "the graph must store its vectors (INLINE_VECTORS or SEPARATED_VECTORS), got "
                                + graph.getFeatureSet());
            }
            return table(orchestrator, graph, null);
        }

        private JvectorTable table(
                Orchestrator orchestrator, ImmutableGraphIndex graph, @Nullable RandomAccessVectorValues vectors) {
            Objects.requireNonNull(orchestrator, "orchestrator must not be null");
            Vectors.requireRange("dimension", graph.getDimension(), 1, Vectors.MAX_DIMENSIONS);
            Metric rowMetric = metric;
            ScratchPool<Searcher> searchers =
                    new ScratchPool<>(() -> new Searcher(graph, vectors, Scores.function(rowMetric)));
            Searcher first = searchers.take();
            try {
                JvectorTable table = new JvectorTable(
                        orchestrator, name, metric, graph, new GraphRows(graph, first.liveNodes(), ids), searchers);
                searchers.giveBack(first);
                return table;
            } catch (RuntimeException refused) {
                close(first);
                throw refused;
            }
        }
    }
}
