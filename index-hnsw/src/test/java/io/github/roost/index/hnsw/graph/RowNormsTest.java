package io.github.roost.index.hnsw.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class RowNormsTest {
    private static RowNorms of(double... norms) {
        return new RowNorms(Arrays.stream(norms).map(norm -> norm * norm).toArray());
    }

    @Test
    void normsVaryIfTheirDeviationIsMoreThanASixteenthOfTheirMean() {
        assertThat(of(1.06, .94).vary()).isFalse();
        assertThat(of(1.07, .93).vary()).isTrue();
        assertThat(of(1.06e-9, .94e-9).vary()).isFalse();
        assertThat(of(1.07e9, .93e9).vary()).isTrue();
        assertThat(of(0, 0).vary()).isFalse();
        assertThat(of(3).vary()).isFalse();
        assertThat(of(0, 1).vary()).isTrue();
    }

    @Test
    void theLargestComeFirstAndEqualOnesInTheirOrder() {
        RowNorms norms = of(2, 5, 0, 5, 1, 3, 3);
        assertThat(norms.largestFirst()).containsExactly(1, 3, 5, 6, 0, 4, 2);
        assertThat(norms.maxSquared()).isEqualTo(25);
    }

    @Test
    void whatIsInsertedInOrderIsInDrawnLayersBelowTheFirst() {
        NodeLevels levels = NodeLevels.inOrder(1_000, 8);
        assertThat(levels.counts())
                .isEqualTo(NodeLevels.random(1_000, 8).counts())
                .containsExactly(125, 15, 1);
        assertThat(levels.order()).hasSize(1_000).doesNotHaveDuplicates().startsWith(0);
        for (int i = 0; i < 1_000; i++) {
            assertThat(levels.order()[levels.insertion()[i]]).isEqualTo(i);
        }
        assertThat(NodeLevels.inOrder(3, 8).counts()).isEmpty();
    }
}
