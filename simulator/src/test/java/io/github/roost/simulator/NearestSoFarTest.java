package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class NearestSoFarTest {
    private static final int K = 40;
    private static final int TRIALS = 300;

    @Test
    void asManyRowsComeInAsIntoAHeapOfRowsInNoOrder() {
        double expected = new NearestSoFar(K).look(2_000, 0);
        SplittableRandom random = new SplittableRandom(5);
        long displaced = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            PriorityQueue<Double> nearest = new PriorityQueue<>((a, b) -> Double.compare(b, a));
            for (int row = 0; row < 2_000; row++) {
                double distance = random.nextDouble();
                if (nearest.size() < K) {
                    nearest.add(distance);
                } else if (distance < nearest.element()) {
                    nearest.remove();
                    nearest.add(distance);
                    displaced++;
                }
            }
        }
        assertThat((double) displaced / TRIALS).isCloseTo(expected, withinPercentage(4));
    }

    @Test
    void listsOneAfterTheOtherAreAsOneList() {
        NearestSoFar lists = new NearestSoFar(K);
        double sum = 0;
        for (int list = 0; list < 8; list++) {
            sum += lists.look(250, 0);
        }
        assertThat(sum).isCloseTo(new NearestSoFar(K).look(2_000, 0), within(1e-6));
        assertThat(lists.held()).isEqualTo(K);
        assertThat(lists.seen()).isEqualTo(2_000);
    }

    @Test
    void whatAnotherHasFoundKeepsRowsOut() {
        NearestSoFar second = new NearestSoFar(K);
        assertThat(second.look(1_000, 1_000)).isZero();
        assertThat(second.held()).isCloseTo(K, within(1e-6));
        assertThat(new NearestSoFar(K).look(500, 1_000)).isZero();
    }
}
