package io.github.roost.simulator.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class WorkloadTest {
    private static float[][] numbered(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> new float[] {number + 1, 1})
                .toArray(float[][]::new);
    }

    private static int[] numbers(float[][] vectors) {
        return Arrays.stream(vectors).mapToInt(vector -> (int) vector[0]).toArray();
    }

    @Test
    void aSplitHasEachVectorOnceAsARowOrAsAQuery() {
        Workload split = Workload.split("made", numbered(100), 1_000, 7, 42);

        assertThat(split.queries()).hasNumberOfRows(7);
        assertThat(IntStream.concat(IntStream.of(numbers(split.rows())), IntStream.of(numbers(split.queries())))
                        .sorted())
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 100).boxed().toList());
        assertThat(split.name()).isEqualTo("93 x 2 made");
    }

    @Test
    void theSameVectorsAreSplitInTheSameWay() {
        Workload split = Workload.split("made", numbered(100), 50, 7, 42);
        Workload more = Workload.split("made", numbered(100), 1_000, 7, 42);

        assertThat(numbers(split.queries())).isEqualTo(numbers(more.queries()));
        assertThat(numbers(split.rows())).isEqualTo(Arrays.copyOf(numbers(more.rows()), 50));
        assertThat(Workload.checksum(split.rows())).isNotEqualTo(Workload.checksum(more.rows()));
        assertThat(Workload.checksum(split.queries()))
                .isEqualTo(Workload.checksum(more.queries()))
                .hasSize(16);
    }

    @Test
    void aFewVectorsAreMostlyRows() {
        assertThat(Workload.split("made", numbered(20), 1_000, 1_000, 1).queries())
                .hasNumberOfRows(2);
        assertThatThrownBy(() -> Workload.split("made", numbered(9), 1_000, 1_000, 1))
                .hasMessage("there must be at least 10 vectors, got 9");
    }

    @Test
    void byCosineVectorsHaveLengthOneAndTheSameNeighbors() {
        Workload plain = Workload.mixture(200, 3, 6, 4, 1);
        Workload cosine = plain.byCosine();

        assertThat(cosine.metric()).isEqualTo(Metric.COSINE);
        for (int query = 0; query < 3; query++) {
            assertThat(ExactSearch.distance(cosine.queries()[query], new float[6], Metric.SQUARED_L2))
                    .isEqualTo(1, within(1e-6f));
            assertThat(ExactSearch.exact(cosine.rows(), cosine.queries()[query], 5, Metric.SQUARED_L2)
                            .ids())
                    .isEqualTo(ExactSearch.exact(plain.rows(), plain.queries()[query], 5, Metric.COSINE)
                            .ids());
        }
    }
}
