package io.github.roost.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.testkit.Machines;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class RoostMetricsTest {
    /** Metrics of a registry, which references them only weakly. */
    private final List<RoostMetrics> bound = new ArrayList<>();

    @Test
    void aTableHasSeriesOnceItsRecallIsMeasuredAndUntilItIsClosedAndAtMostAHundredHave() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            RoostMetrics metrics = new RoostMetrics(orchestrator);
            bound.add(metrics);
            metrics.bindTo(registry);
            Registration table = orchestrator.register("table");
            Registration alike = orchestrator.register("table");
            scrape(registry);
            assertThat(registry.find("roost.table.recall").gauges()).isEmpty();
            table.recall(new Registration.Recall(.9, .8, .95, 20, 30, 10, false));
            alike.recall(new Registration.Recall(.7, .6, .75, 20, 40, 10, true));
            scrape(registry);
            assertThat(value(registry, "roost.table.recall")).isEqualTo(.7);
            assertThat(value(registry, "roost.table.recall.low")).isEqualTo(.6);
            assertThat(value(registry, "roost.table.recall.high")).isEqualTo(.75);
            assertThat(registry.get("roost.table.recall.samples")
                            .functionCounter()
                            .count())
                    .isEqualTo(40);
            assertThat(value(registry, "roost.recall.alarms")).isEqualTo(1);
            table.close();
            alike.close();
            scrape(registry);
            assertThat(registry.find("roost.table.recall").gauges()).isEmpty();
            for (int i = 0; i < RoostMetrics.MAX_TABLES + 20; i++) {
                orchestrator.register("table-" + i).recall(new Registration.Recall(.9, .8, .95, 20, 30, 10, false));
            }
            scrape(registry);
            assertThat(registry.find("roost.table.recall").gauges()).hasSize(RoostMetrics.MAX_TABLES);
        }
    }

    private static double value(SimpleMeterRegistry registry, String name) {
        return registry.get(name).gauge().value();
    }

    /** Reads a gauge until the snapshot that it is of is a new one. */
    private static void scrape(SimpleMeterRegistry registry) {
        long end = System.nanoTime() + 300_000_000;
        while (System.nanoTime() - end < 0) {
            var _ = value(registry, "roost.workers");
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Test
    void countsTasksAndTrafficAndDoesNotGrowWithTables() {
        try (Orchestrator orchestrator = Machines.orchestrator(2, 1).build()) {
            SimpleMeterRegistry before = new SimpleMeterRegistry();
            new RoostMetrics(orchestrator).bindTo(before);
            for (int table = 0; table < 20; table++) {
                MappingId id = orchestrator.register("table-" + table).id();
                orchestrator
                        .submit(
                                (query, context) -> {
                                    context.touched(1, 1_000);
                                    return query;
                                },
                                0,
                                id)
                        .join();
            }
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            RoostMetrics metrics = new RoostMetrics(orchestrator);
            bound.add(metrics);
            metrics.bindTo(registry);
            assertThat(registry.get("roost.tasks")
                            .tag("outcome", "completed")
                            .functionCounter()
                            .count())
                    .isEqualTo(20);
            assertThat(registry.find("roost.traffic").functionCounters().stream()
                            .mapToDouble(counter -> counter.count())
                            .sum())
                    .isEqualTo(20_000);
            assertThat(registry.get("roost.workers").gauge().value()).isEqualTo(2);
            assertThat(registry.get("roost.workers.pinned").gauge().value()).isZero();
            assertThat(registry.getMeters()).hasSameSizeAs(before.getMeters());
            assertThat(registry.getMeters().stream().map(Meter::getId).map(Meter.Id::getName))
                    .allMatch(name -> name.matches("roost(\\.[a-z]+)+"));
        }
    }
}
