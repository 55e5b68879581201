package example;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.metrics.RoostMetrics;
import io.github.roost.index.hnsw.HnswTable;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** An orchestrator's meters in a Micrometer registry: tasks by outcome, waits, and the traffic of each home. Micrometer is an optional dependency. */
public final class Meters {
    private static final int SEARCHES = 1_000;
    private static final int DIMENSION = 32;

    private Meters() {}

    public static void main(String[] args) throws InterruptedException {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = HnswTable.builder().build(orchestrator, randomRows(500))) {
            new RoostMetrics(orchestrator).bindTo(registry);
            double before = completed(registry);
            for (int i = 0; i < SEARCHES; i++) {
                table.search(new float[DIMENSION], 1).join();
            }
            Set<String> names = new TreeSet<>();
            registry.forEachMeter(meter -> names.add(meter.getId().getName()));
            System.out.println(names);

            // Workers publish their counts with a short delay: the last task of each may be missing.
            int min = SEARCHES - orchestrator.workers();
            long minBytes = (long) min * DIMENSION * Float.BYTES;
            // Meters show a snapshot that is up to 200 ms old.
            double completed = completed(registry) - before;
            for (int wait = 0; completed < min && wait < 100; wait++) {
                Thread.sleep(100);
                completed = completed(registry) - before;
            }
            double bytes = registry.get("roost.traffic").functionCounters().stream()
                    .mapToDouble(counter -> counter.count())
                    .sum();
            System.out.printf("%.0f tasks completed, %.0f bytes read%n", completed, bytes);
            if (completed < min || bytes < minBytes) {
                throw new IllegalStateException("expected at least " + min + " tasks and " + minBytes + " bytes");
            }
        }
    }

    private static double completed(MeterRegistry registry) {
        return registry.get("roost.tasks")
                .tag("outcome", "completed")
                .functionCounter()
                .count();
    }

    private static float[][] randomRows(int count) {
        Random random = new Random(7);
        float[][] rows = new float[count][DIMENSION];
        for (float[] row : rows) {
            for (int i = 0; i < DIMENSION; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return rows;
    }
}
