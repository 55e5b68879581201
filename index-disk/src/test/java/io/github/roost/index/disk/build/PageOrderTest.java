package io.github.roost.index.disk.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageOrderTest {
    private static PageOrder filled(int[][] neighbors, int perPage, int entry) {
        PageOrder order = new PageOrder(neighbors.length, perPage, row -> neighbors[row]);
        order.fill(entry, () -> {});
        return order;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 100, 1_000})
    void everyRowGetsOneNumberWhateverTheGraph(int rows) {
        SplittableRandom random = new SplittableRandom(rows);
        for (int perPage : new int[] {1, 3, 8}) {
            // Rows without edges, edges to the row itself and twice to the same row, rows that no edge leads to.
            int[][] neighbors = IntStream.range(0, rows)
                    .mapToObj(row -> random.ints(random.nextInt(5), 0, rows).toArray())
                    .toArray(int[][]::new);
            PageOrder order = filled(neighbors, perPage, random.nextInt(rows));
            BitSet numbers = new BitSet();
            for (int row = 0; row < rows; row++) {
                assertThat(order.row(order.node(row))).isEqualTo(row);
                numbers.set(order.node(row));
            }
            assertThat(numbers.cardinality()).isEqualTo(rows);
            assertThat(numbers.length()).isEqualTo(rows);
        }
    }

    /** Groups of rows, each linked to the others of its group and one to the next group; the rows of a group are far apart. */
    @Test
    void rowsThatAreLinkedShareAPage() {
        int groups = 50;
        int perPage = 4;
        int[][] neighbors = new int[groups * perPage][];
        for (int row = 0; row < neighbors.length; row++) {
            int group = row % groups;
            int member = row / groups;
            neighbors[row] = IntStream.concat(
                            IntStream.range(0, perPage)
                                    .filter(other -> other != member)
                                    .map(other -> group + other * groups),
                            IntStream.of((group + 1) % groups))
                    .toArray();
        }
        PageOrder order = filled(neighbors, perPage, 0);
        for (int node = 0; node < neighbors.length; node++) {
            assertThat(order.row(node) % groups).isEqualTo(order.row(node - node % perPage) % groups);
        }
    }

    @Test
    void theEntryIsOnTheFirstPageAndTheCallerIsCalledAfterEachRow() {
        int[][] neighbors = {{1}, {2}, {3}, {4}, {0}};
        PageOrder order = new PageOrder(neighbors.length, 2, row -> neighbors[row]);
        int[] calls = {0};
        order.fill(3, () -> calls[0]++);
        assertThat(order.node(3)).isZero();
        assertThat(calls[0]).isEqualTo(5);
    }
}
