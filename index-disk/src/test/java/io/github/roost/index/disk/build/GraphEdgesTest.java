package io.github.roost.index.disk.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GraphEdgesTest {
    /** A third of the rows have no edges to them, and some have none at all. */
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "50, 1", "50, 2", "1000, 3", "1000, 16"})
    void everyRowIsReachedAndNoneHasMoreEdgesThanTheDegree(int count, int degree) {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            int[][] built = new int[count][];
            Arrays.setAll(
                    built,
                    row -> random.ints(random.nextInt(degree + 1), 0, count)
                            .filter(to -> to != row && to % 3 != 0)
                            .distinct()
                            .toArray());
            GraphEdges edges = new GraphEdges(row -> built[row], degree);
            BitSet rows = new BitSet();
            rows.set(0, count);
            int entry = random.nextInt(count);
            AtomicInteger calls = new AtomicInteger();

            edges.reachAll(entry, rows, calls::incrementAndGet);

            assertThat(calls).hasValue(count);
            BitSet reached = new BitSet();
            reach(edges, entry, reached);
            assertThat(reached).isEqualTo(rows);
            for (int row = 0; row < count; row++) {
                assertThat(edges.of(row))
                        .hasSizeLessThanOrEqualTo(degree)
                        .doesNotHaveDuplicates()
                        .doesNotContain(row);
            }
        }
    }

    private static void reach(GraphEdges edges, int row, BitSet reached) {
        reached.set(row);
        for (int next : edges.of(row)) {
            if (!reached.get(next)) {
                reach(edges, next, reached);
            }
        }
    }
}
