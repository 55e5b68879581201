package io.github.roost.index.remote.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class VisitedChoiceTest {
    @Test
    void theFewestPartitionsAreChosenThatReachTheTargetAsFarAsTheSampleCanTell() {
        Random random = new Random(3);
        for (int trial = 0; trial < 200; trial++) {
            int partitions = 1 + random.nextInt(40);
            int[][] ranks = IntStream.range(0, 2 + random.nextInt(100))
                    .mapToObj(query -> random.ints(1 + random.nextInt(10), 0, 1 + random.nextInt(partitions))
                            .toArray())
                    .toArray(int[][]::new);
            double target = .5 + random.nextDouble() / 2;
            VisitedChoice.Chosen chosen = VisitedChoice.of(ranks, partitions, target);
            assertThat(chosen.recall())
                    .isEqualTo(mean(shares(ranks, chosen.visited())), within(1e-9))
                    .isGreaterThanOrEqualTo(target + .1 * (1 - target) - 1e-6);
            // One fewer is not surely over it, with what is left to searches.
            double[] oneFewer = shares(ranks, chosen.visited() - 1);
            assertThat(chosen.visited() == 1
                            || mean(oneFewer) - 1.645 * standardError(oneFewer) < target + .1 * (1 - target))
                    .isTrue();
        }
    }

    private static double[] shares(int[][] ranks, int visited) {
        return Arrays.stream(ranks)
                .mapToDouble(
                        of -> IntStream.of(of).filter(rank -> rank < visited).count() / (double) of.length)
                .toArray();
    }

    private static double mean(double[] values) {
        return DoubleStream.of(values).sum() / values.length;
    }

    private static double standardError(double[] values) {
        double mean = mean(values);
        double variance =
                DoubleStream.of(values).map(v -> (v - mean) * (v - mean)).sum() / (values.length - 1);
        return Math.sqrt(variance / values.length);
    }

    @Test
    void aSampleOfMoreQueriesNeedsFewerPartitions() {
        // Of each neighbor 98 in 100 are in the first partition, the others in the second.
        int[][] few = sample(10);
        int[][] many = sample(2_000);
        assertThat(VisitedChoice.of(few, 9, .95).visited()).isEqualTo(2);
        assertThat(VisitedChoice.of(many, 9, .95).visited()).isEqualTo(1);
    }

    private static int[][] sample(int queries) {
        return IntStream.range(0, queries)
                .mapToObj(query -> query % 10 == 0 ? new int[] {1, 0, 0, 0, 0} : new int[5])
                .toArray(int[][]::new);
    }

    @Test
    void withoutASampleOneIsVisited() {
        assertThat(VisitedChoice.of(new int[0][], 7, .95).visited()).isEqualTo(1);
    }

    @Test
    void aTargetOfAllVisitsTheFarthestThatHasAny() {
        assertThat(VisitedChoice.of(new int[][] {{0, 0}, {4, 1}}, 9, 1)).isEqualTo(new VisitedChoice.Chosen(5, 1));
    }
}
