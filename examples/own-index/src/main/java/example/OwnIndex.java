package example;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * An index of one's own on Roost's workers; here it compares the query with all rows. Roost needs two things of it: a {@link SearchFunction}, which
 * any number of workers call at once, and a registration, whose mapping id has a home. From the traffic that searches report Roost learns which
 * tables are hot, and moves homes when that changes.
 */
public final class OwnIndex {
    private static final int ROWS = 2_000;
    private static final int DIMENSION = 32;

    private OwnIndex() {}

    /** The row nearest to a query. */
    record Nearest(int row, float squaredDistance) {}

    /** Compares the query with all rows. Queries and results are of any type. */
    record Scan(float[][] rows) implements SearchFunction<float[], Nearest> {
        @Override
        public Nearest search(float[] query, SearchContext context) {
            int nearest = -1;
            float best = Float.POSITIVE_INFINITY;
            for (int row = 0; row < rows.length; row++) {
                float distance = 0;
                for (int i = 0; i < query.length; i++) {
                    float difference = rows[row][i] - query[i];
                    distance += difference * difference;
                }
                if (distance < best) {
                    nearest = row;
                    best = distance;
                }
            }
            context.touched(rows.length, (long) rows.length * query.length * Float.BYTES);
            return new Nearest(nearest, best);
        }
    }

    public static void main(String[] args) {
        Random random = new Random(7);
        float[][] rows = new float[ROWS][DIMENSION];
        for (float[] row : rows) {
            for (int i = 0; i < DIMENSION; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        Scan scan = new Scan(rows);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                Registration registration = orchestrator.register("scanned")) {
            List<CompletableFuture<Nearest>> searches = new ArrayList<>();
            for (float[] query : rows) {
                searches.add(orchestrator.submit(scan, query, registration.id()));
            }
            for (int row = 0; row < ROWS; row++) {
                Nearest found = searches.get(row).join();
                if (!found.equals(new Nearest(row, 0))) {
                    throw new IllegalStateException("the nearest row must be " + row + " itself, got " + found);
                }
            }
            OrchestratorStats.TableStats table = orchestrator.stats(1).tables().getFirst();
            System.out.println(table + " at home in domains " + orchestrator.homes(registration.id()));

            // Workers publish their counts with a short delay: the last task of each may be missing.
            long min = (long) (ROWS - orchestrator.workers()) * ROWS * DIMENSION * Float.BYTES;
            if (table.trafficBytes() < min) {
                throw new IllegalStateException("expected traffic of at least " + min + " bytes, got " + table);
            }
        }
    }
}
