package io.github.roost.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CrossingCostTest {
    private static CrossingCost measured(long homeNanos, long crossedNanos) {
        CrossingCost cost = CrossingCost.UNKNOWN;
        for (int i = 0; i < 200; i++) {
            cost = cost.crossed(crossedNanos, 1_000).atHome(homeNanos, 1_000);
        }
        return cost;
    }

    @Test
    void aTaskLosesTheSlowdownOfTheMeanTimeAtHome() {
        assertThat(measured(1_000, 1_500).slowdown()).isBetween(.499, .501);
        assertThat(measured(1_000, 1_500).lossNanos()).isBetween(499.0, 501.0);
        assertThat(measured(1_000, 900).lossNanos()).as("faster away from home").isZero();
    }

    @Test
    void whereNothingIsKnownNothingIsLost() {
        assertThat(CrossingCost.UNKNOWN.lossNanos()).isZero();
        assertThat(CrossingCost.UNKNOWN.atHome(1_000, 1_000).lossNanos()).isZero();
        assertThat(CrossingCost.UNKNOWN.crossed(1_000, 1_000).lossNanos()).isZero();
    }

    @Test
    void theLatestTasksCountMost() {
        CrossingCost cost = measured(1_000, 3_000);
        for (int i = 0; i < 400; i++) {
            cost = cost.atHome(3_000, 1_000);
        }
        assertThat(cost.slowdown()).isBetween(0.0, .01);
    }

    /** Time per byte: that tables differ in what a search reads says nothing about crossing. */
    @Test
    void longTasksThatCrossAreNoSignThatCrossingIsDear() {
        CrossingCost cost = CrossingCost.UNKNOWN;
        for (int i = 0; i < 200; i++) {
            cost = cost.atHome(1_000, 1_000).crossed(50_000, 50_000);
        }
        assertThat(cost.slowdown()).isZero();
    }
}
