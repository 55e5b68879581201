package consumer;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.Registration;
import io.github.roost.core.metrics.RoostMetrics;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Some searches, and what a registry then says about them. */
public final class MetersOfRoost {
    private static final int SEARCHES = 1_000;
    private static final int BYTES = 4_096;

    private MetersOfRoost() {}

    public static void main(String[] args) {
        var registry = new SimpleMeterRegistry();
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                Registration table = orchestrator.register("table")) {
            for (int i = 0; i < SEARCHES; i++) {
                orchestrator
                        .submit(
                                (query, context) -> {
                                    context.touched(1, BYTES);
                                    return query;
                                },
                                i,
                                table.id())
                        .join();
            }
            new RoostMetrics(orchestrator).bindTo(registry);
            double completed = registry.get("roost.tasks")
                    .tag("outcome", "completed")
                    .functionCounter()
                    .count();
            double traffic = registry.get("roost.traffic").functionCounters().stream()
                    .mapToDouble(counter -> counter.count())
                    .sum();
            // Counts of running tasks come a moment late: the last of each worker may be missing.
            int least = SEARCHES - orchestrator.workers();
            if (completed < least || completed > SEARCHES || traffic < least * (double) BYTES) {
                throw new IllegalStateException("expected " + SEARCHES + " tasks and " + BYTES + " bytes each, got "
                        + completed + " and " + traffic + " bytes in all");
            }
            Set<String> names = registry.getMeters().stream()
                    .map(Meter::getId)
                    .map(Meter.Id::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
            System.out.println("micrometer: " + names);
        }
    }
}
