package io.github.roost.index.disk.search;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FilterPlanTest {
    @Test
    void fewAllowedRowsAreFoundByTheirCodesAndManyByASearch() {
        assertThat(FilterPlan.scans(0, 1_000_000, 100)).isTrue();
        assertThat(FilterPlan.scans(100_000, 1_000_000, 100)).isTrue();
        assertThat(FilterPlan.scans(900_000, 1_000_000, 100)).isFalse();
        assertThat(FilterPlan.scans(Integer.MAX_VALUE, Integer.MAX_VALUE, 100_000))
                .isFalse();
    }

    @Test
    void aSearchKeepsAsManyAllowedNodesInSightWhateverTheFilterAllows() {
        assertThat(FilterPlan.width(100, 1_000, 1_000)).isEqualTo(100);
        assertThat(FilterPlan.width(100, 500, 1_000)).isEqualTo(200);
        assertThat(FilterPlan.width(100, 10, 1_000)).isEqualTo(1_000);
        assertThat(FilterPlan.width(100_000, 1, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
        assertThat(FilterPlan.width(10, 3, 3)).isEqualTo(3);
    }
}
