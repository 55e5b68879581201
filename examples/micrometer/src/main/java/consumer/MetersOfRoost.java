package consumer;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.metrics.RoostMetrics;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.VectorTable;
import io.github.roost.index.hnsw.HnswTable;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Runs some searches and checks the meters in a registry. */
public final class MetersOfRoost {
    private static final int SEARCHES = 1_000;
    private static final int DIMENSION = 32;

    private MetersOfRoost() {}

    public static void main(String[] args) {
        var registry = new SimpleMeterRegistry();
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                VectorTable table = HnswTable.builder().build(orchestrator, rows())) {
            double before = orchestrator.stats().tasks().completed();
            for (int i = 0; i < SEARCHES; i++) {
                table.search(SearchRequest.of(new float[DIMENSION], 1)).join();
            }
            new RoostMetrics(orchestrator).bindTo(registry);
            double completed = registry.get("roost.tasks")
                    .tag("outcome", "completed")
                    .functionCounter()
                    .count();
            double traffic = registry.get("roost.traffic").functionCounters().stream()
                    .mapToDouble(counter -> counter.count())
                    .sum();
            // Counts of running tasks are published with a short delay: the last task of each worker may be missing.
            int min = SEARCHES - orchestrator.workers();
            double minBytes = min * (double) DIMENSION * Float.BYTES;
            if (completed - before < min || traffic < minBytes) {
                throw new IllegalStateException("expected " + SEARCHES + " tasks and " + minBytes + " bytes, got "
                        + (completed - before) + " and " + traffic + " bytes in all");
            }
            Set<String> names = registry.getMeters().stream()
                    .map(Meter::getId)
                    .map(Meter.Id::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
            System.out.println("micrometer: " + names);
        }
    }

    private static float[][] rows() {
        Random random = new Random(7);
        float[][] rows = new float[500][DIMENSION];
        for (float[] row : rows) {
            for (int i = 0; i < DIMENSION; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return rows;
    }
}
