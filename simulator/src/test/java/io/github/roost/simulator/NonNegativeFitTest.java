package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class NonNegativeFitTest {
    @Test
    void sumsThatTheCostsExplainGiveTheCostsBack() {
        double[] costs = {120, 0, 3.5, .25};
        NonNegativeFit fit = new NonNegativeFit(costs.length);
        SplittableRandom random = new SplittableRandom(3);
        for (int sum = 0; sum < 12; sum++) {
            double[] counts = {1, random.nextInt(100), random.nextInt(1_000), random.nextInt(50_000)};
            double total = 0;
            for (int i = 0; i < costs.length; i++) {
                total += counts[i] * costs[i];
            }
            fit.add("sum " + sum, counts, total);
        }
        assertThat(fit.costs()).containsExactly(costs, within(1e-3));
        assertThat(fit.report(fit.costs()).getFirst()).startsWith("sum 0: ").endsWith("explain 1.00");
    }

    @Test
    void noCostIsNegative() {
        NonNegativeFit fit = new NonNegativeFit(2);
        fit.add("a", new double[] {1, 1}, 10);
        fit.add("b", new double[] {1, 2}, 8);
        fit.add("c", new double[] {1, 3}, 6);
        double[] costs = fit.costs();
        assertThat(costs[0]).isBetween(6.0, 10.0);
        assertThat(costs[1]).isZero();
    }

    @Test
    void aSumOfOtherThingsIsRefused() {
        assertThatThrownBy(() -> new NonNegativeFit(2).add("a", new double[] {1}, 10))
                .hasMessageContaining("got 1, 10");
    }
}
