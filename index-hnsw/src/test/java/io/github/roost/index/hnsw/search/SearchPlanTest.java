package io.github.roost.index.hnsw.search;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SearchPlanTest {
    @Test
    void askingAboutAllRowsMakesAScanLonger() {
        assertThat(SearchPlan.scanIsShorter(100_000, 10_000, 100)).isTrue();
        assertThat(SearchPlan.scanIsShorter(100_000, 100_000, .1, 100)).isFalse();
        assertThat(SearchPlan.scanIsShorter(100_000, 100_000, .05, 100)).isTrue();
        assertThat(SearchPlan.scanIsShorter(100_000, 100_000, 0, 1)).isTrue();
        assertThat(SearchPlan.scanIsShorter(Integer.MAX_VALUE, Integer.MAX_VALUE, 1, 100_000))
                .isFalse();
    }

    @Test
    void moreIsScannedWithAFilterAndMoreByCodesThanByVectors() {
        assertThat(SearchPlan.scanIsShorter(100_000, 12_500, 100)).isFalse();
        assertThat(SearchPlan.codeScanIsShorter(100_000, 12_500, 100)).isTrue();
        assertThat(SearchPlan.scanOfFewIsShorter(100_000, 10_000, 100)).isFalse();
        assertThat(SearchPlan.scanOfFewIsShorter(100_000, 6_000, 100)).isTrue();
        assertThat(SearchPlan.scanOfFewIsShorter(400, 400, 100)).isTrue();
        assertThat(SearchPlan.codeScanIsShorter(100_000, 25_000, 100)).isFalse();
        assertThat(SearchPlan.scanIsShorter(400, 400, 100)).isTrue();
        assertThat(SearchPlan.scanIsShorter(401, 401, 100)).isFalse();
        assertThat(SearchPlan.codeScanIsShorter(401, 401, 100)).isFalse();
    }

    @Test
    void moreNodesAreLookedForTheFewerAFilterAllows() {
        assertThat(SearchPlan.unfiltered(100, 1, 1_000_000)).isEqualTo(125);
        assertThat(SearchPlan.unfiltered(100, .1, 1_000_000)).isEqualTo(1_250);
        assertThat(SearchPlan.unfiltered(100, .1, 900)).isEqualTo(900);
        assertThat(SearchPlan.unfiltered(100_000, 1e-9, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void halfOfTheNodesNeededAreEnoughIfTheyAreAtLeastK() {
        assertThat(SearchPlan.allowsTooFew(49, 100, 10)).isTrue();
        assertThat(SearchPlan.allowsTooFew(50, 100, 10)).isFalse();
        assertThat(SearchPlan.allowsTooFew(99, 100, 100)).isTrue();
        assertThat(SearchPlan.allowsTooFew(100, 100, 100)).isFalse();
    }

    @Test
    void aSearchWentFarIfItExpandedTwiceTheNodesThatEvenlySpreadRowsTake() {
        assertThat(SearchPlan.wentFar(432, 100_000, 50_000, 100)).isFalse();
        assertThat(SearchPlan.wentFar(433, 100_000, 50_000, 100)).isTrue();
        assertThat(SearchPlan.wentFar(2_033, 100_000, 10_000, 100)).isTrue();
        assertThat(SearchPlan.wentFar(1_000_000, 100_000, 100_000, 100)).isFalse();
    }
}
