package io.github.roost.bench.disk;

import io.github.jbellis.jvector.disk.RandomAccessReader;
import io.github.jbellis.jvector.disk.ReaderSupplier;
import io.github.jbellis.jvector.graph.GraphIndexBuilder;
import io.github.jbellis.jvector.graph.GraphSearcher;
import io.github.jbellis.jvector.graph.ImmutableGraphIndex;
import io.github.jbellis.jvector.graph.ListRandomAccessVectorValues;
import io.github.jbellis.jvector.graph.SearchResult;
import io.github.jbellis.jvector.graph.disk.OnDiskGraphIndex;
import io.github.jbellis.jvector.graph.similarity.DefaultSearchScoreProvider;
import io.github.jbellis.jvector.quantization.PQVectors;
import io.github.jbellis.jvector.quantization.ProductQuantization;
import io.github.jbellis.jvector.util.Bits;
import io.github.jbellis.jvector.vector.VectorSimilarityFunction;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.roost.bench.JvectorVectors;
import io.github.roost.bench.rivals.SearchThreads;
import io.github.roost.simulator.measure.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ForkJoinPool;

/**
 * jvector's {@link OnDiskGraphIndex} with vectors in its nodes and product-quantized codes in memory, as in its examples: the codes guide the
 * search, the vectors rerank. A search blocks on each of its reads, so there is one thread per search in flight.
 */
final class JvectorDisk implements DiskEngine {
    private static final VectorSimilarityFunction SIMILARITY = VectorSimilarityFunction.EUCLIDEAN;
    private static final int CENTROIDS = 256;
    private static final int DIMENSIONS_PER_CODE = 4;

    private final List<VectorFloat<?>> queries;
    private final PQVectors codes;
    private final OnDiskGraphIndex index;
    private final GraphSearcher[] searchers;
    private final SearchThreads threads;
    private final Duration buildTime;
    private final long memoryBytes;

    /** @param memoryBytes for codes and cached blocks */
    JvectorDisk(Workload workload, Path folder, int degree, int buildWidth, int inFlight, long memoryBytes)
            throws IOException {
        this.queries = JvectorVectors.of(workload.queries());
        ListRandomAccessVectorValues rows =
                new ListRandomAccessVectorValues(JvectorVectors.of(workload.rows()), workload.dimension());
        Path file = folder.resolve("jvector");
        long began = System.nanoTime();
        try (ForkJoinPool pool = new ForkJoinPool();
                GraphIndexBuilder builder =
                        JvectorVectors.builder(rows, SIMILARITY, List.of(degree), buildWidth, pool);
                ImmutableGraphIndex graph = builder.build(rows)) {
            OnDiskGraphIndex.write(graph, rows, file);
            ProductQuantization quantization = ProductQuantization.compute(
                    rows, Math.ceilDiv(workload.dimension(), DIMENSIONS_PER_CODE), CENTROIDS, false);
            this.codes = quantization.encodeAll(rows, pool);
        }
        this.buildTime = Duration.ofNanos(System.nanoTime() - began);
        long codeBytes = (long) rows.size() * codes.getCompressedSize();
        long perReader = Math.max(0, memoryBytes - codeBytes) / inFlight;
        this.memoryBytes = codeBytes + perReader * inFlight;
        this.index = OnDiskGraphIndex.load(new ReaderSupplier() {
            @Override
            public RandomAccessReader get() throws IOException {
                return new CachedBlocks(file, perReader);
            }
        });
        this.searchers = new GraphSearcher[inFlight];
        Arrays.setAll(searchers, same -> new GraphSearcher(index));
        this.threads = new SearchThreads(inFlight, queries.size());
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
    public long memoryBytes() {
        return memoryBytes;
    }

    private SearchResult search(int thread, int query, int k, int width) {
        GraphSearcher searcher = searchers[thread];
        OnDiskGraphIndex.View view = (OnDiskGraphIndex.View) searcher.getView();
        VectorFloat<?> vector = queries.get(query);
        return searcher.search(
                new DefaultSearchScoreProvider(
                        codes.precomputedScoreFunctionFor(vector, SIMILARITY), view.rerankerFor(vector, SIMILARITY)),
                k,
                width,
                0f,
                0f,
                Bits.ALL);
    }

    @Override
    public int[][] search(int k, int width) throws Exception {
        int[][] found = new int[queries.size()][];
        threads.once((thread, query) -> found[query] = JvectorVectors.rows(search(thread, query, k, width)));
        return found;
    }

    @Override
    public double rate(int k, int width, Duration time) throws Exception {
        return threads.rate(time, (thread, query) -> search(thread, query, k, width));
    }

    @Override
    public void close() throws IOException {
        threads.close();
        for (GraphSearcher searcher : searchers) {
            searcher.close();
        }
        index.close();
    }
}
