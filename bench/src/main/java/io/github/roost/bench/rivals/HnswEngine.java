package io.github.roost.bench.rivals;

import com.sun.management.ThreadMXBean;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Roost's table, fixed or live; its search functions are called directly on as many threads as the other engines use, without
 * dispatch.
 */
final class HnswEngine implements Engine {
    private static final SearchContext UNCOUNTED = SearchContext.outside((nodes, bytes) -> {});

    private static final int WARM_UP_ROUNDS = 5;
    /** The name of a live table in reports. */
    static final String LIVE = "roost live";

    private final Workload workload;
    private final String name;
    private final Orchestrator orchestrator;
    private final VectorTable table;
    private final Duration buildTime;
    private final SearchThreads threads;

    HnswEngine(Workload workload, Topology topology, GraphLayout layout, EngineSettings settings) throws IOException {
        this(workload, topology, new Engines.Graph(layout), settings, null);
    }

    /**
     * Builds or loads a table.
     *
     * @param kept file from which the table is loaded if it exists, and to which it is saved otherwise; null for none
     */
    HnswEngine(Workload workload, Topology topology, Engines.Graph graph, EngineSettings settings, @Nullable Path kept)
            throws IOException {
        this(
                graph.engine(),
                workload,
                topology,
                settings,
                orchestrator -> BuiltTable.of(
                        kept,
                        file -> HnswTable.load(orchestrator, "hnsw", file),
                        () -> HnswTable.builder()
                                .metric(workload.metric())
                                .layout(graph.layout())
                                .m(settings.m())
                                .efConstruction(settings.efConstruction())
                                .build(orchestrator, workload.rows())));
    }

    private HnswEngine(String name, Workload workload, Topology topology, EngineSettings settings, TableBuilder builder)
            throws IOException {
        this.name = name;
        this.workload = workload;
        this.orchestrator =
                Orchestrator.builder().recallShare(0).topology(topology).build();
        BuiltTable<?> built = builder.build(orchestrator);
        this.table = built.table();
        this.buildTime = built.build();
        this.threads = new SearchThreads(settings.searchThreads(), workload.queries().length);
    }

    /** Builds or loads the table. */
    private interface TableBuilder {
        BuiltTable<?> build(Orchestrator orchestrator) throws IOException;
    }

    /** An empty live table to which the rows are added; its build time ends when all rows are in graphs. */
    static HnswEngine live(Workload workload, Topology topology, EngineSettings settings) throws IOException {
        return new HnswEngine(
                LIVE,
                workload,
                topology,
                settings,
                orchestrator -> BuiltTable.of(() -> {
                    LiveTable table = added(workload, settings, orchestrator);
                    table.merge();
                    return table;
                }));
    }

    /** Adds the rows one at a time, in as many threads as the other engines build with. */
    private static LiveTable added(Workload workload, EngineSettings settings, Orchestrator orchestrator) {
        LiveTable table = LiveTable.builder()
                .metric(workload.metric())
                .elementType(ElementType.INT8)
                .m(settings.m())
                .efConstruction(settings.efConstruction())
                .build(orchestrator, workload.rows()[0].length);
        try (ExecutorService adding = Executors.newFixedThreadPool(THREADS)) {
            IntStream.range(0, THREADS)
                    .mapToObj(first -> CompletableFuture.runAsync(() -> addFrom(first, workload, table), adding))
                    .toList()
                    .forEach(CompletableFuture::join);
        }
        return table;
    }

    private static void addFrom(int first, Workload workload, LiveTable table) {
        for (int row = first; row < workload.rows().length; row += THREADS) {
            table.put(row, workload.rows()[row]);
        }
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
        SearchFunction<float[], SearchResult> search = function(k, ef);
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

    private SearchFunction<float[], SearchResult> function(int k, int ef) {
        return switch (table) {
            case HnswTable fixed -> fixed.searchFunction(k, ef);
            case LiveTable live -> live.searchFunction(k, ef);
            default -> throw new IllegalStateException("a table of graphs was built, got " + table);
        };
    }

    @Override
    public int[][] search(int k, int ef) throws Exception {
        SearchFunction<float[], SearchResult> search = function(k, ef);
        int[][] found = new int[workload.queries().length][];
        threads.once((thread, query) -> found[query] = Arrays.stream(
                        search.search(workload.queries()[query], UNCOUNTED).ids())
                .mapToInt(id -> (int) id)
                .toArray());
        return found;
    }

    @Override
    public double rate(int k, int ef, Duration time) throws Exception {
        SearchFunction<float[], SearchResult> search = function(k, ef);
        return threads.rate(time, (thread, query) -> search.search(workload.queries()[query], UNCOUNTED));
    }

    @Override
    public void close() {
        threads.close();
        table.close();
        orchestrator.close();
    }
}
