package io.github.roost.bench.rivals;

import com.sun.management.ThreadMXBean;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Roost's fixed table; its search functions are called directly on as many threads as the other engines use, without
 * dispatch.
 */
final class HnswEngine implements Engine {
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private static final int WARM_UP_ROUNDS = 5;

    private final Workload workload;
    private final String name;
    private final Orchestrator orchestrator;
    private final HnswTable table;
    private final Duration buildTime;
    private final SearchThreads threads;

    /**
     * Builds or loads a table.
     *
     * @param kept file from which the table is loaded if it exists, and to which it is saved otherwise; null for none
     */
    HnswEngine(Workload workload, Topology topology, Engines.Graph graph, EngineSettings settings, @Nullable Path kept)
            throws IOException {
        this.name = graph.engine();
        this.workload = workload;
        this.orchestrator =
                Orchestrator.builder().recallShare(0).topology(topology).build();
        BuiltTable<HnswTable> built = BuiltTable.of(
                kept,
                file -> HnswTable.load(orchestrator, "hnsw", file),
                () -> HnswTable.builder()
                        .metric(workload.metric())
                        .layout(graph.layout())
                        .m(settings.m())
                        .efConstruction(settings.efConstruction())
                        .build(orchestrator, workload.rows()));
        this.table = built.table();
        this.buildTime = built.build();
        this.threads = new SearchThreads(settings.searchThreads(), workload.queries().length);
    }

    static String name(GraphLayout layout) {
        return layout == GraphLayout.FLOAT32
                ? "roost"
                : "roost " + layout.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    /** Off-heap memory of the table; it has none on the heap. */
    @Override
    public long bytes() {
        return table.bytes();
    }

    /** Java heap bytes allocated per search, including the result: the mean over all queries, after warm-up. */
    long allocatedBytes(int k, int ef) throws Exception {
        SearchFunction<float[], SearchResult> search = table.searchFunction(k, ef);
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            before = thread.getCurrentThreadAllocatedBytes();
            for (float[] query : workload.queries()) {
                search.search(query, UNCOUNTED);
            }
        }
        return (thread.getCurrentThreadAllocatedBytes() - before) / workload.queries().length;
    }

    @Override
    public int[][] search(int k, int ef) throws Exception {
        SearchFunction<float[], SearchResult> search = table.searchFunction(k, ef);
        int[][] found = new int[workload.queries().length][];
        threads.once((thread, query) -> found[query] = Arrays.stream(
                        search.search(workload.queries()[query], UNCOUNTED).ids())
                .mapToInt(id -> (int) id)
                .toArray());
        return found;
    }

    @Override
    public double rate(int k, int ef, Duration time) throws Exception {
        SearchFunction<float[], SearchResult> search = table.searchFunction(k, ef);
        return threads.rate(time, (thread, query) -> search.search(workload.queries()[query], UNCOUNTED));
    }

    @Override
    public void close() {
        threads.close();
        table.close();
        orchestrator.close();
    }
}
