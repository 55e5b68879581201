package io.github.roost.simulator.replay;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TaskCounts;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.remap.RemapRule;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.Topology;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Roost's workers under one scheduling. Every contender opens the same files, so that all contenders read the same pages. */
final class OrchestratorContender implements ReplayContender {
    private static final Duration SHORT_WINDOW = Duration.ofSeconds(1);
    private static final Duration LONG_WINDOW = Duration.ofSeconds(6);
    private static final int RING = 1 << 16;

    private final String name;
    private final ReplayTables tables;
    private final Orchestrator orchestrator;
    private final boolean inRegions;
    /** The HNSW tables, opened here. */
    private final List<HnswTable> hnsw = new ArrayList<>();
    /** Mapping id of each HNSW table as a whole. */
    private final List<MappingId> ids = new ArrayList<>();
    /** The IVF tables, opened here. */
    private final List<IvfTable> ivf = new ArrayList<>();

    /**
     * @param rule remapping at the end of a window
     * @param groups how IVF queries that wait for the same list are scanned together
     * @param inRegions whether searches of an HNSW table larger than a cache are placed by region, as {@link HnswTable} does
     */
    OrchestratorContender(
            String name,
            SchedulingPolicy scheduling,
            RemapRule rule,
            GroupRule groups,
            boolean inRegions,
            Topology topology,
            ReplayTables tables)
            throws IOException {
        this.name = name;
        this.tables = tables;
        this.inRegions = inRegions;
        this.orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(topology)
                .scheduling(scheduling)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                .ringCapacity(RING)
                .windows(SHORT_WINDOW, LONG_WINDOW)
                .groupRule(groups)
                .mappingPolicy(rule.policy())
                .remapTrigger(rule.trigger())
                .build();
        for (int table = 0; table < tables.count(); table++) {
            if (tables.isIvf()) {
                ivf.add(tables.openIvf(table, orchestrator));
            } else {
                hnsw.add(tables.openHnsw(table, orchestrator));
                ids.add(orchestrator
                        .register(tables.spec(table).name() + " as a whole")
                        .id());
            }
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public CompletableFuture<SearchResult> search(int table, int target) {
        float[] query = tables.target(table, target);
        if (tables.isIvf()) {
            return ivf.get(table).search(query, tables.spec(table).k());
        }
        return orchestrator.submit(tables.searchFunction(table), query, mappingId(table, query));
    }

    /** The mapping id under which the search of an HNSW table is submitted. */
    MappingId mappingId(int table, float[] query) {
        return inRegions ? hnsw.get(table).mappingId(query) : ids.get(table);
    }

    @Override
    public Scheduled scheduled() {
        var stats = orchestrator.stats();
        TaskCounts tasks = stats.tasks();
        return new Scheduled(tasks.intraSteals(), tasks.crossSteals(), stats.remaps(), stats.movedBytes());
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
