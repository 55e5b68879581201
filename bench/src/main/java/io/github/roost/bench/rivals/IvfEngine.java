package io.github.roost.bench.rivals;

import io.github.roost.bench.ClosedLoop;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Roost's IVF table; searches are dispatched to the workers of an orchestrator, and ef is the number of probed lists. */
final class IvfEngine implements Engine {
    private final Workload workload;
    private final Orchestrator orchestrator;
    private final IvfTable table;
    private final Duration buildTime;
    private final Engines.Lists lists;
    private final boolean alone;

    /**
     * Builds or loads a table.
     *
     * @param kept file from which the table is loaded if it exists, and to which it is saved otherwise; null for none
     */
    IvfEngine(Workload workload, Topology topology, Engines.Lists lists, EngineSettings settings, @Nullable Path kept)
            throws IOException {
        this.workload = workload;
        this.lists = lists;
        this.alone = settings.alone();
        this.orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(30)))
                .build();
        BuiltTable<IvfTable> built = BuiltTable.of(
                kept,
                file -> IvfTable.open(orchestrator, "ivf", file),
                () -> IvfTable.builder()
                        .name("ivf")
                        .metric(workload.metric())
                        .nlist(settings.nlist())
                        // Every search passes an nprobe; this skips the build's measurement of a default.
                        .nprobe(1)
                        .elementType(lists.elementType())
                        .codes(lists.codes())
                        .build(orchestrator, workload.rows()));
        this.table = built.table();
        this.buildTime = built.build();
    }

    @Override
    public String name() {
        return lists.engine();
    }

    @Override
    public Duration buildTime() {
        return buildTime;
    }

    @Override
    public long bytes() {
        return table.bytes();
    }

    @Override
    public int[][] search(int k, int ef) {
        List<CompletableFuture<SearchResult>> searches = table.searchAll(Arrays.stream(workload.queries())
                .map(query -> SearchRequest.of(query, k).effort(effort(ef)))
                .toList());
        return searches.stream().map(search -> ids(search.join())).toArray(int[][]::new);
    }

    private static int[] ids(SearchResult neighbors) {
        return Arrays.stream(neighbors.ids()).mapToInt(Math::toIntExact).toArray();
    }

    @Override
    public double rate(int k, int ef, Duration time) throws InterruptedException {
        float[][] queries = workload.queries();
        int effort = effort(ef);
        // The other engines get all queries as one batch.
        return new ClosedLoop(alone ? 1 : queries.length)
                .runBatches(
                        Long.MAX_VALUE,
                        time,
                        (first, count) -> table.searchAll(LongStream.range(first, first + count)
                                .mapToObj(number -> SearchRequest.of(queries[(int) (number % queries.length)], k)
                                        .effort(effort))
                                .toList()),
                        (number, found) -> {})
                .perSecond();
    }

    private int effort(int ef) {
        return Math.min(ef, table.nlist());
    }

    @Override
    public void close() {
        table.close();
        orchestrator.close();
    }
}
