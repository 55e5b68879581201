package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.hnsw.MergeChoice.Part;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MergeChoiceTest {
    private static Part withGraph(int rows) {
        return new Part(true, rows, rows);
    }

    private static Part added(int rows) {
        return new Part(false, rows, rows);
    }

    @Test
    void nothingIsDueWhereAllIsMerged() {
        assertThat(MergeChoice.of(List.of())).isEmpty();
        assertThat(MergeChoice.of(List.of(withGraph(1_000), withGraph(1_000)))).isEmpty();
    }

    @Test
    void rowsWithoutAGraphAreMergedWithPartsNotMuchLarger() {
        assertThat(MergeChoice.of(List.of(withGraph(100_000), withGraph(300), added(100), added(50))))
                .containsExactly(1, 2, 3);
        assertThat(MergeChoice.of(List.of(withGraph(100_000), withGraph(1_000), added(100))))
                .containsExactly(2);
    }

    @Test
    void aPartWithManyTombstonesIsMerged() {
        assertThat(MergeChoice.of(List.of(new Part(true, 1_000, 500), withGraph(100_000))))
                .containsExactly(0);
        assertThat(MergeChoice.of(List.of(new Part(true, 1_000, 501), withGraph(100_000))))
                .isEmpty();
    }

    @Test
    void aMillionRowsAreBuiltAFewTimesEachAndLieInFewParts() {
        List<Part> parts = new ArrayList<>();
        long built = 0;
        int max = 0;
        for (int batch = 0; batch < 500; batch++) {
            parts.add(added(2_000));
            for (List<Integer> due = MergeChoice.of(parts); !due.isEmpty(); due = MergeChoice.of(parts)) {
                int rows = due.stream().mapToInt(i -> parts.get(i).alive()).sum();
                due.reversed().forEach(i -> parts.remove((int) i));
                parts.add(withGraph(rows));
                built += rows;
            }
            max = Math.max(max, parts.size());
        }
        assertThat(built).isLessThan(9L * 1_000_000);
        assertThat(max).isLessThanOrEqualTo(8);
    }
}
