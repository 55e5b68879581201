package io.github.roost.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.Machines;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoostMetricsTest {
    /** Metrics of a registry, which references them only weakly. */
    private final List<RoostMetrics> bound = new ArrayList<>();

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
