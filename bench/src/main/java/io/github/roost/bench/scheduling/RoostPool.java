package io.github.roost.bench.scheduling;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats.TableStats;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchFunction;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;

/** An orchestrator whose tasks are spread randomly over 64 tables. Two views of one orchestrator can differ in whether tasks report traffic. */
final class RoostPool implements Contender.TaskPool {
    /** Bytes that a task reports as read, if it reports traffic. */
    static final long BYTES = 512;

    private static final int TABLES = 64;
    private static final SearchFunction<Runnable, Boolean> RUN = (task, context) -> {
        task.run();
        return Boolean.TRUE;
    };
    private static final SearchFunction<Runnable, Boolean> RUN_AND_REPORT = (task, context) -> {
        task.run();
        context.touched(1, BYTES);
        return Boolean.TRUE;
    };

    private final Orchestrator orchestrator;
    private final MappingId[] ids;
    private final SearchFunction<Runnable, Boolean> function;

    private RoostPool(Orchestrator orchestrator, MappingId[] ids, SearchFunction<Runnable, Boolean> function) {
        this.orchestrator = orchestrator;
        this.ids = ids;
        this.function = function;
    }

    /** Starts an orchestrator with its defaults, except that submitters block while rings are full. Its tasks report traffic. */
    static RoostPool open() {
        Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(10)))
                .build();
        Registration tables = orchestrator.register("tables", TABLES);
        MappingId[] ids = new MappingId[TABLES];
        for (int table = 0; table < TABLES; table++) {
            ids[table] = tables.id(table);
        }
        return new RoostPool(orchestrator, ids, RUN_AND_REPORT);
    }

    /** A view of the same orchestrator whose tasks report no traffic. Closing this pool closes it too. */
    RoostPool withoutReports() {
        return new RoostPool(orchestrator, ids, RUN);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return orchestrator.submit(
                function, task, ids[ThreadLocalRandom.current().nextInt(TABLES)]);
    }

    /** Traffic of all tables so far; exact once the pool is closed. */
    long reportedBytes() {
        return orchestrator.stats().tables().stream()
                .mapToLong(TableStats::trafficBytes)
                .sum();
    }

    @Override
    public void close() {
        orchestrator.close();
    }
}
