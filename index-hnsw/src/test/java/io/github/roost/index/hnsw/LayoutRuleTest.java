package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.index.hnsw.LayoutRule.Cost;
import io.github.roost.vector.MemoryLimited;
import org.junit.jupiter.api.Test;

class LayoutRuleTest {
    private static final int ROWS = 1_000_000;

    private static Cost floats(int ef, double recall, double searched) {
        return new Cost(ef, recall, searched, 512, 0, 512);
    }

    private static Cost codes(int ef, double recall, double searched) {
        return new Cost(ef, recall, searched, 128, 32, 512);
    }

    @Test
    void shortVectorsAreReadAsTheyAre() {
        assertThat(LayoutRule.withoutSample(LayoutRule.MIN_DIMENSION - 1, ROWS, 1, MemoryLimited.NO_MEMORY_LIMIT))
                .hasValueSatisfying(choice -> {
                    assertThat(choice.layout()).isEqualTo(GraphLayout.FLOAT32);
                    assertThat(choice.reason()).contains("63 dimensions");
                });
        assertThat(LayoutRule.withoutSample(LayoutRule.MIN_DIMENSION, ROWS, 1, MemoryLimited.NO_MEMORY_LIMIT))
                .isEmpty();
    }

    @Test
    void aTableInTheCachesIsReadAsItIs() {
        int rows = (int) (LayoutRule.MIN_VECTOR_BYTES / Float.BYTES / 128);
        assertThat(LayoutRule.withoutSample(128, rows - 1, 1, MemoryLimited.NO_MEMORY_LIMIT))
                .hasValueSatisfying(choice -> assertThat(choice.layout()).isEqualTo(GraphLayout.FLOAT32));
        assertThat(LayoutRule.withoutSample(128, rows, 1, MemoryLimited.NO_MEMORY_LIMIT))
                .isEmpty();
    }

    @Test
    void whatCodesWouldTakeMustBeWithinTheMemoryLimit() {
        assertThat(LayoutRule.withoutSample(128, ROWS, 700, 699))
                .hasValueSatisfying(choice ->
                        assertThat(choice.reason()).contains("700 bytes").contains("limit is 699"));
        assertThat(LayoutRule.withoutSample(128, ROWS, 700, 700)).isEmpty();
    }

    @Test
    void codesAreChosenWhereASearchTakesATenthLess() {
        assertThat(LayoutRule.bySample(.95, floats(20, .96, 400), codes(20, .96, 400)))
                .satisfies(choice -> {
                    assertThat(choice.layout()).isEqualTo(GraphLayout.INT8);
                    assertThat(choice.reason()).contains("recall 0.95", "ef 20", "400 distances", "432 distances");
                });
        double even = (.9 * floats(20, .96, 400).nanos() - codes(20, .96, 0).nanos())
                / (codes(20, .96, 1).nanos() - codes(20, .96, 0).nanos());
        assertThat(LayoutRule.bySample(.95, floats(20, .96, 400), codes(30, .96, even - 1))
                        .layout())
                .isEqualTo(GraphLayout.INT8);
        assertThat(LayoutRule.bySample(.95, floats(20, .96, 400), codes(30, .96, even + 1))
                        .layout())
                .isEqualTo(GraphLayout.FLOAT32);
    }

    @Test
    void codesThatFindTooLittleAreNotChosen() {
        assertThat(LayoutRule.bySample(.95, floats(20, .96, 400), codes(20, .94, 400))
                        .layout())
                .isEqualTo(GraphLayout.FLOAT32);
        assertThat(LayoutRule.bySample(.99, floats(20, .94, 400), codes(20, .94, 400))
                        .layout())
                .isEqualTo(GraphLayout.INT8);
    }
}
