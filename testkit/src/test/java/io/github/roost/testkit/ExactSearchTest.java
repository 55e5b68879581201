package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.util.Comparator;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ExactSearchTest {
    /** Small integers: distances are exact in floats, and ties abound. */
    @Provide
    Arbitrary<float[][]> vectors() {
        Arbitrary<Float> values = Arbitraries.integers().between(-2, 2).map(Integer::floatValue);
        return Arbitraries.integers()
                .between(1, 7)
                .flatMap(dimension -> values.array(Float[].class)
                        .ofSize(dimension)
                        .map(ExactSearchTest::unboxed)
                        .array(float[][].class)
                        .ofMinSize(2)
                        .ofMaxSize(40));
    }

    private static float[] unboxed(Float[] boxed) {
        float[] values = new float[boxed.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = boxed[i];
        }
        return values;
    }

    @Property
    void theNearestAreTheFirstOfAllSortedByDistanceThenOrdinal(
            @ForAll("vectors") float[][] vectors, @ForAll @IntRange(min = 1, max = 40) int wanted) {
        int k = Math.min(wanted, vectors.length);
        float[] query = vectors[0];
        long[] expected = IntStream.range(0, vectors.length)
                .boxed()
                .sorted(Comparator.comparingDouble((Integer i) -> squaredDistance(query, vectors[i]))
                        .thenComparingInt(i -> i))
                .limit(k)
                .mapToLong(Integer::longValue)
                .toArray();

        SearchResult found = new ExactSearch(vectors).search(query, k);

        assertThat(found.ids()).isEqualTo(expected);
        for (int i = 0; i < k; i++) {
            assertThat((double) found.distances()[i]).isEqualTo(squaredDistance(query, vectors[(int) expected[i]]));
        }
    }

    private static double squaredDistance(float[] a, float[] b) {
        return IntStream.range(0, a.length)
                .mapToDouble(i -> Math.pow((double) a[i] - b[i], 2))
                .sum();
    }

    @Test
    void aKThatTheBaseCannotGiveIsRefused() {
        ExactSearch search = new ExactSearch(new float[][] {{1}, {2}});

        assertThatThrownBy(() -> search.search(new float[] {1}, 3)).hasMessage("k must be between 1 and 2, got 3");
        assertThatThrownBy(() -> search.search(new float[] {1}, 0)).hasMessage("k must be between 1 and 2, got 0");
    }

    @Test
    void byInnerProductTheNearestHasTheLargestProduct() {
        float[][] vectors = {{1, 0}, {0, 5}, {3, -1}, {-9, 0}};
        SearchResult found = new ExactSearch(vectors, Metric.INNER_PRODUCT).search(new float[] {2, 1}, 3);
        assertThat(found.ids()).containsExactly(1, 2, 0);
        assertThat(found.distances()).containsExactly(-5, -5, -2);
    }

    @Test
    void byCosineTheLengthDoesNotCount() {
        float[][] vectors = {{3, 0}, {0, 5}, {-1, 0}, {2, 2}, {4, 0}};
        SearchResult found = new ExactSearch(vectors, Metric.COSINE).search(new float[] {2, 0}, 5);
        assertThat(found.ids()).containsExactly(0, 4, 3, 1, 2);
        assertThat(found.distances()).containsExactly(0, 0, (float) (1 - Math.sqrt(.5)), 1, 2);
    }
}
