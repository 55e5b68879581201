package io.github.roost.bench.replay;

import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TaskCounts;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.dispatch.SchedulingPolicy;
import io.github.roost.core.task.MappingId;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Roost's workers under one scheduling. */
final class OrchestratorContender implements Contender {
    private static final Duration SHORT_WINDOW = Duration.ofSeconds(1);
    private static final Duration LONG_WINDOW = Duration.ofSeconds(6);
    private static final int RING = 1 << 16;

    private final String name;
    private final ReplayTables tables;
    private final Orchestrator orchestrator;
    /** Where each HNSW table belongs here. */
    private final List<MappingId> ids = new ArrayList<>();
    /** The IVF tables, opened here. */
    private final List<IvfTable> ivf = new ArrayList<>();

    OrchestratorContender(String name, SchedulingPolicy scheduling, Topology topology, ReplayTables tables)
            throws IOException {
        this.name = name;
        this.tables = tables;
        this.orchestrator = Orchestrator.builder()
                .topology(topology)
                .scheduling(scheduling)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                .ringCapacity(RING)
                .windows(SHORT_WINDOW, LONG_WINDOW)
                .build();
        for (int table = 0; table < tables.count(); table++) {
            if (tables.isIvf()) {
                ivf.add(tables.open(table, orchestrator));
            } else {
                ids.add(orchestrator.register(tables.spec(table).name()).id());
            }
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public CompletableFuture<Neighbors> search(int table, int target) {
        float[] query = tables.target(table, target);
        return tables.isIvf()
                ? ivf.get(table).search(query, tables.spec(table).k())
                : orchestrator.submit(tables.searchFunction(table), query, ids.get(table));
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
