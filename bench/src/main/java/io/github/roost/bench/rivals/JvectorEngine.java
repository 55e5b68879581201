package io.github.roost.bench.rivals;

import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.roost.bench.JvectorVectors;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/**
 * Plain jvector, used as in its documentation: built by its own parallel build, with one searcher per thread. Its graph
 * has the same degrees as Roost's: twice M in layer 0.
 */
public final class JvectorEngine implements Engine {
    private final VectorSimilarityFunction similarity;
    private final List<VectorFloat<?>> queries;
    private final ListRandomAccessVectorValues rows;
    private final ImmutableGraphIndex graph;
    private final GraphSearcher[] searchers;
    private final Duration buildTime;
    private final SearchThreads threads;

    /** Builds the graph. */
    public JvectorEngine(Workload workload, EngineSettings settings) throws Exception {
        // Of vectors of length one, as those of the cosine are, the product is faster.
        this.similarity = workload.metric() == Metric.SQUARED_L2
                ? VectorSimilarityFunction.EUCLIDEAN
                : VectorSimilarityFunction.DOT_PRODUCT;
        this.queries = JvectorVectors.of(workload.queries());
        this.rows = new ListRandomAccessVectorValues(JvectorVectors.of(workload.rows()), workload.dimension());
        long began = System.nanoTime();
        try (ForkJoinPool pool = new ForkJoinPool(THREADS);
                GraphIndexBuilder builder = JvectorVectors.builder(
                        rows, similarity, List.of(2 * settings.m(), settings.m()), settings.efConstruction(), pool)) {
            this.graph = builder.build(rows);
        }
        this.buildTime = Duration.ofNanos(System.nanoTime() - began);
        int searchThreads = settings.searchThreads();
        this.searchers = new GraphSearcher[searchThreads];
        for (int i = 0; i < searchThreads; i++) {
            searchers[i] = new GraphSearcher(graph);
        }
        this.threads = new SearchThreads(searchThreads, queries.size());
    }

    @Override
    public String name() {
        return "jvector";
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public long bytes() {
        return graph.ramBytesUsed() + (long) rows.size() * rows.dimension() * Float.BYTES;
    }

    private SearchResult search(int thread, int query, int k, int ef) {
        return searchers[thread].search(
                DefaultSearchScoreProvider.exact(queries.get(query), similarity, rows), k, ef, 0f, 0f, Bits.ALL);
    }

    @Override
    public int[][] search(int k, int ef) throws Exception {
        int[][] found = new int[queries.size()][];
        threads.once((thread, query) -> found[query] = JvectorVectors.rows(search(thread, query, k, ef)));
        return found;
    }

    @Override
    public double rate(int k, int ef, Duration time) throws Exception {
        return threads.rate(time, (thread, query) -> search(thread, query, k, ef));
    }

    @Override
    public void close() throws IOException {
        threads.close();
        for (GraphSearcher searcher : searchers) {
            searcher.close();
        }
        graph.close();
    }
}
