package io.github.roost.index.jvector.build;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.vector.Metric;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JvectorGraphBuilderTest {
    private static final int ROWS = 3_000;
    private static final int DIMENSION = 20;

    private static HnswTable.Builder builder() {
        return HnswTable.builder().buildInJava(true);
    }

    @Test
    void whatIsBuiltIsSavedOpenedAndFindsItsRows(@TempDir Path folder) throws Exception {
        float[][] rows = gaussian(ROWS, DIMENSION, new Random(5));
        // Equal rows are one node.
        System.arraycopy(rows[7], 0, rows[2_000], 0, DIMENSION);
        Path file = folder.resolve("table");
        try (Orchestrator orchestrator = Orchestrator.builder().build()) {
            try (HnswTable built = builder().m(8).build(orchestrator, rows)) {
                built.save(file);
            }
            try (HnswTable table = HnswTable.open(orchestrator, "opened", file)) {
                int found = 0;
                for (int row = 0; row < ROWS; row++) {
                    long expected = row == 2_000 ? 7 : row;
                    found += table.search(rows[row], 1, 50).join().ids()[0] == expected ? 1 : 0;
                }
                assertThat(found).isGreaterThan(ROWS * 98 / 100);
            }
        }
    }

    @Test
    void theLargestProductsAreFound() {
        Random random = new Random(8);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        for (float[] row : rows) {
            float factor = (float) Math.exp(.5 * random.nextGaussian());
            for (int i = 0; i < row.length; i++) {
                row[i] *= factor;
            }
        }
        int found = 0;
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable table = builder().metric(Metric.INNER_PRODUCT).build(orchestrator, rows)) {
            for (float[] query : gaussian(100, DIMENSION, random)) {
                found += hits(
                        exact(rows, query, 10, Metric.INNER_PRODUCT),
                        table.search(query, 10, 80).join());
            }
        }
        assertThat(found).isGreaterThan(950);
    }
}
