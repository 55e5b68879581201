package io.github.roost.index.hnsw;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.Vectors;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables whose builder is not told what searches read. */
class LayoutSelectionTest {
    private static final int DIMENSION = 256;
    /** So many that their vectors are just more than what lies in caches. */
    private static final int ROWS = (int) (LayoutRule.MIN_VECTOR_BYTES / Float.BYTES / DIMENSION) + 8;

    private static final Orchestrator ORCHESTRATOR =
            Orchestrator.builder().topology(Fixtures.twoDomains()).build();

    @AfterAll
    static void close() {
        ORCHESTRATOR.close();
    }

    private static HnswTable.Builder builder() {
        return HnswTable.builder().m(8).efConstruction(40);
    }

    /** Rows near a sphere of few dimensions: searches reach any recall, so that chance does not tell which layout finds more. */
    private static float[][] nearSphere() {
        Random random = new Random(26);
        float[][] axes = gaussian(8, DIMENSION, random);
        float[][] places = gaussian(ROWS, axes.length, random);
        float[][] rows = gaussian(ROWS, DIMENSION, random);
        for (int row = 0; row < ROWS; row++) {
            double norm = Math.sqrt(Vectors.product(places[row], places[row]));
            for (int i = 0; i < DIMENSION; i++) {
                rows[row][i] *= .1f;
                for (int axis = 0; axis < axes.length; axis++) {
                    rows[row][i] += (float) (places[row][axis] / norm) * axes[axis][i];
                }
            }
        }
        return rows;
    }

    @Test
    void aSampleChoosesCodesForLongVectorsAndTheChoiceIsSaved(@TempDir Path folder) throws Exception {
        float[][] rows = nearSphere();
        Path file = folder.resolve("table");
        try (HnswTable table = builder().metric(Metric.INNER_PRODUCT).build(ORCHESTRATOR, rows)) {
            assertThat(table.layout()).isEqualTo(GraphLayout.INT8);
            assertThat(table.layoutChoice().layout()).isEqualTo(GraphLayout.INT8);
            assertThat(table.layoutChoice().reason()).contains("a search with recall 0.95", "by a sample");
            assertThat(table.stats().elementType()).isEqualTo(ElementType.INT8);
            assertThat(table.size()).isEqualTo(ROWS);
            float[] vector = table.vector(7);
            assertThat(vector).isEqualTo(rows[7]);
            table.save(file);
        }
        try (HnswTable loaded = HnswTable.load(ORCHESTRATOR, "loaded", file)) {
            assertThat(loaded.layoutChoice()).isEqualTo(new GraphLayout.Choice(GraphLayout.INT8, "it was saved so"));
            assertThat(loaded.vector(ROWS - 1)).isEqualTo(rows[ROWS - 1]);
        }
    }

    @Test
    void aLayoutThatIsAskedForIsTakenAndALimitOfMemoryKeepsVectors() {
        float[][] rows = nearSphere();
        try (HnswTable requested = builder().layout(GraphLayout.FLOAT32).build(ORCHESTRATOR, rows)) {
            assertThat(requested.layoutChoice())
                    .isEqualTo(new GraphLayout.Choice(GraphLayout.FLOAT32, "it was requested"));
            try (HnswTable limited =
                    builder().memoryLimit(requested.bytes() + 1_000).build(ORCHESTRATOR, rows)) {
                assertThat(limited.layout()).isEqualTo(GraphLayout.FLOAT32);
                assertThat(limited.layoutChoice().reason()).contains("the memory limit is");
            }
        }
    }

    @Test
    void aSmallTableHasVectors() {
        try (HnswTable table = builder().build(ORCHESTRATOR, gaussian(100, DIMENSION, new Random(1)))) {
            assertThat(table.layout()).isEqualTo(GraphLayout.FLOAT32);
            assertThat(table.layoutChoice().reason()).contains("lie in caches");
        }
    }

    @Test
    void aSwapTakesTheLayoutAndTheElementTypeOfTheNewRows() {
        float[][] rows = gaussian(100, DIMENSION, new Random(2));
        try (HnswTable table = builder().layout(GraphLayout.FLOAT32).build(ORCHESTRATOR, rows)) {
            table.swap(builder().layout(GraphLayout.INT8).build(ORCHESTRATOR, rows));
            assertThat(table.layout()).isEqualTo(GraphLayout.INT8);
            assertThat(table.elementType()).isEqualTo(ElementType.INT8);
            assertThat(table.stats().elementType()).isEqualTo(ElementType.INT8);
        }
    }

    @Test
    @SuppressWarnings("NullAway") // what is under test
    void theLayoutMustNotBeNull() {
        HnswTable.Builder builder = builder().layout(GraphLayout.INT8);
        assertThatThrownBy(() -> builder.layout(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("layout must not be null");
        try (HnswTable table = builder.build(ORCHESTRATOR, new float[][] {{1}, {2}})) {
            assertThat(table.layout()).isEqualTo(GraphLayout.INT8);
        }
    }

    @Test
    void theRecallMustBeOne() {
        assertThatThrownBy(() -> HnswTable.builder().targetRecall(1.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("recall must be over 0 and at most 1, got 1.5");
    }
}
