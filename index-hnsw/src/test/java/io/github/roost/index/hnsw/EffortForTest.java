package io.github.roost.index.hnsw;

import static io.github.roost.testkit.ExactSearch.exact;
import static io.github.roost.testkit.ExactSearch.hits;
import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.Metric;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EffortForTest {
    @Test
    void theEffortThatIsPickedReachesTheRecall() {
        float[][] rows = gaussian(8_000, 20, new Random(81));
        float[][] sample = gaussian(300, 20, new Random(82));
        float[][] queries = gaussian(300, 20, new Random(83));
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(Fixtures.twoDomains()).build();
                HnswTable table = HnswTable.builder().m(8).efConstruction(60).build(orchestrator, rows)) {
            int narrow = table.effortFor(.8, 10, sample);
            int wide = table.effortFor(.98, 10, sample);
            assertThat(narrow).isGreaterThanOrEqualTo(10).isLessThan(wide);
            assertThat(recall(table, rows, sample, narrow)).isGreaterThanOrEqualTo(.8);
            assertThat(recall(table, rows, sample, wide)).isGreaterThanOrEqualTo(.98);
            assertThat(recall(table, rows, queries, wide)).isGreaterThan(.96);
            // What is far narrower does not reach it.
            assertThat(recall(table, rows, sample, (int) (wide * .9))).isLessThan(.98);

            assertThatThrownBy(() -> table.effortFor(1.1, 10, sample)).hasMessageContaining("got 1.1");
            assertThatThrownBy(() -> table.effortFor(Double.NaN, 10, sample)).hasMessageContaining("got NaN");
            assertThatThrownBy(() -> table.effortFor(.9, 10, new float[0][])).hasMessageContaining("got none");
            assertThatThrownBy(() -> table.effortFor(.9, 10, new float[][] {{1}}))
                    .hasMessageContaining("query 0 must have 20 dimensions, got 1");
        }
    }

    private static double recall(HnswTable table, float[][] rows, float[][] queries, int ef) {
        int hits = 0;
        for (float[] query : queries) {
            hits += hits(
                    exact(rows, query, 10, Metric.SQUARED_L2, row -> true),
                    table.search(query, 10, ef).join());
        }
        return hits / (10.0 * queries.length);
    }
}
