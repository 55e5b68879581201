package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A few of the rows lie near each other, compared with their distance from the rest: variants of a document, or another kind of data. Codes of a whole table
 * hardly tell them apart.
 */
class SmallRegionTest {
    private static final int ROWS = 6_000;
    private static final int DIMENSION = 96;
    private static final int K = 10;
    private static final int QUERIES = 30;

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final Random random = new Random(1);
    private final float[] base = gaussian(1);

    @AfterEach
    void close() {
        orchestrator.close();
    }

    private float[] gaussian(double size) {
        float[] values = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            values[i] = (float) (size * random.nextGaussian());
        }
        return values;
    }

    private float[] inRegion(double offset, double noise) {
        float[] values = gaussian(noise);
        for (int i = 0; i < DIMENSION; i++) {
            values[i] += (float) (offset + base[i]);
        }
        return values;
    }

    @ParameterizedTest
    @CsvSource({"COSINE, 0, .003", "SQUARED_L2, 0, .003", "SQUARED_L2, 1000, 1"})
    void theNearestAreFoundThere(Metric metric, double offset, double noise) {
        float[][] rows = new float[ROWS][];
        for (int row = 0; row < ROWS; row++) {
            rows[row] = row % 40 == 0 ? inRegion(offset, noise) : gaussian(1);
        }
        try (HnswTable table =
                HnswTable.builder().metric(metric).layout(GraphLayout.INT8).build(orchestrator, rows)) {
            int hits = 0;
            for (int query = 0; query < QUERIES; query++) {
                float[] near = inRegion(offset, noise);
                double[] distances = Arrays.stream(rows)
                        .mapToDouble(row -> ExactSearch.distance(near, row, metric))
                        .toArray();
                double kth = Arrays.stream(distances).sorted().toArray()[K - 1];
                for (long id : table.search(SearchRequest.of(near, K)).join().ids()) {
                    hits += distances[(int) id] <= kth ? 1 : 0;
                }
            }
            assertThat(hits).isGreaterThan((int) (.95 * K * QUERIES));
        }
    }
}
