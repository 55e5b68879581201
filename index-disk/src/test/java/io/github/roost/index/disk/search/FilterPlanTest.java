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
    void aSearchGivesUpTheGraphWhenWhatItMayNotFindCostsMoreThanAllCodes() {
        assertThat(FilterPlan.isCrowdedOut(100, 0, 3_000, 100)).isFalse();
        assertThat(FilterPlan.isCrowdedOut(104, 0, 3_000, 100)).isTrue();
        assertThat(FilterPlan.isCrowdedOut(10_000, 0, 10_000_000, 100)).isFalse();
        assertThat(FilterPlan.isCrowdedOut(0, 5_000, 10_000_000, 100)).isTrue();
        assertThat(FilterPlan.isCrowdedOut(0, 5_000, 10_000_000, 1_000)).isFalse();
    }
}
