package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CrossingCostTest {
    private static final int WORKERS = 8;

    private static CrossingCost measured(long homeNanos, long crossedNanos) {
        CrossingCost cost = CrossingCost.UNKNOWN;
        for (int i = 0; i < 200; i++) {
            cost = cost.crossed(crossedNanos, 1_000).atHome(homeNanos, 1_000, 1);
        }
        return cost;
    }

    @Test
    void whereNothingIsKnownCrossingNeverPays() {
        assertThat(CrossingCost.UNKNOWN.pays(1_000, WORKERS, false)).isFalse();
    }

    @Test
    void onlyNowAndThenOneCrossesToFindOut() {
        CrossingCost cost = CrossingCost.UNKNOWN;
        int crossed = 0;
        for (int task = 0; task < 6_400; task++) {
            if (cost.trialIsDue() || cost.pays(1, WORKERS, true)) {
                crossed++;
                // Ten times as long: it never pays.
                cost = cost.crossed(10_000, 1_000);
            } else {
                cost = cost.atHome(1_000, 1_000, 1);
            }
        }
        assertThat(crossed).isBetween(20, 100);
        assertThat(cost.slowdown()).isBetween(8.9, 9.1);
    }

    @Test
    void whatIsColdAtHomeTooMayCrossAndWhatIsWarmThereMayNot() {
        CrossingCost cold = measured(1_000, 1_050);
        assertThat(cold.slowdown()).isBetween(.049, .051);
        assertThat(cold.pays(0, WORKERS, true)).isFalse();
        assertThat(cold.pays(1, WORKERS, true)).isTrue();

        CrossingCost warm = measured(1_000, 2_000);
        assertThat(warm.pays(2 * WORKERS, WORKERS, true)).isFalse();
        assertThat(warm.pays(2 * WORKERS + 1, WORKERS, true)).isTrue();
    }

    @Test
    void whatATaskDisplacesIsNoLossWhereMostWorkersAreIdle() {
        CrossingCost warm = measured(1_000, 2_000);

        assertThat(warm.pays(WORKERS, WORKERS, false)).isFalse();
        assertThat(warm.pays(WORKERS + 1, WORKERS, false)).isTrue();
        assertThat(warm.pays(WORKERS + 1, WORKERS, true)).isFalse();
    }

    @Test
    void theLatestTasksCountMost() {
        CrossingCost cost = measured(1_000, 3_000);
        for (int i = 0; i < 400; i++) {
            cost = cost.atHome(3_000, 1_000, 1);
        }
        assertThat(cost.slowdown()).isBetween(0.0, .01);
    }

    /** Time per byte: that tables differ in what a search reads says nothing about crossing. */
    @Test
    void longTasksThatCrossAreNoSignThatCrossingIsDear() {
        CrossingCost cost = CrossingCost.UNKNOWN;
        for (int i = 0; i < 200; i++) {
            cost = cost.atHome(1_000, 1_000, 1).crossed(50_000, 50_000);
        }
        assertThat(cost.slowdown()).isZero();
    }

    @Test
    void aTaskLosesTheSlowdownOfTheMeanTimeAtHome() {
        assertThat(CrossingCost.UNKNOWN.lossNanos()).isZero();
        assertThat(measured(1_000, 1_500).lossNanos()).isBetween(499.0, 501.0);
    }

    @Test
    void theSumOfDomainsWeighsThemByTheirTasks() {
        CrossingCost few = CrossingCost.UNKNOWN.crossed(3_000, 1_000).atHome(1_000, 1_000, 1);
        CrossingCost many = CrossingCost.UNKNOWN;
        for (int i = 0; i < 3; i++) {
            many = many.crossed(1_000, 1_000).atHome(1_000, 1_000, 1);
        }

        assertThat(few.isMeasured()).isFalse();
        assertThat(many.isMeasured()).isFalse();
        CrossingCost both = few.plus(many);
        assertThat(both.crossings()).isBetween(3.9, 4.0);
        assertThat(both.plus(few).isMeasured()).isTrue();
        assertThat(both.slowdown()).isBetween(.49, .52);
        assertThat(both.trialIsDue()).isFalse();
    }
}
