package io.github.roost.index.disk.update;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Vectors;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PruneStepsTest {
    private static PruneSteps prune(long seed, int count, int max) {
        Random random = new Random(seed);
        float[] from = vector(random);
        float[][] vectors = new float[count][];
        for (int i = 0; i < count; i++) {
            // Some are alike, and some are the node itself.
            vectors[i] = i > 0 && random.nextInt(8) == 0 ? vectors[random.nextInt(i)] : vector(random);
        }
        if (count > 3) {
            vectors[3] = from;
        }
        int[] order = IntStream.range(0, count)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> Vectors.squaredDistance(from, vectors[i])))
                .mapToInt(i -> i)
                .toArray();
        float[][] sorted = Arrays.stream(order).mapToObj(i -> vectors[i]).toArray(float[][]::new);
        float[] distances = new float[count];
        for (int i = 0; i < count; i++) {
            distances[i] = Vectors.squaredDistance(from, sorted[i]);
        }
        return new PruneSteps(order, sorted, distances, max, 1.2f);
    }

    private static float[] vector(Random random) {
        return gaussian(6, random);
    }

    @Test
    void stoppedAnywhereItGivesTheSameAsInOneGo() {
        for (int seed = 0; seed < 200; seed++) {
            int count = seed % 70;
            int max = 1 + seed % 20;
            PruneSteps whole = prune(seed, count, max);
            assertThat(whole.run(Integer.MAX_VALUE)).isFalse();
            Random random = new Random(seed);
            PruneSteps paused = prune(seed, count, max);
            while (paused.run(1 + random.nextInt(30))) {
                assertThat(paused.size()).isLessThanOrEqualTo(max);
            }
            PruneSteps single = prune(seed, count, max);
            while (single.run(1)) {
                assertThat(single.size()).isLessThanOrEqualTo(max);
            }
            assertThat(paused.result()).as("seed " + seed).isEqualTo(whole.result());
            assertThat(single.result()).as("seed " + seed).isEqualTo(whole.result());
            assertThat(whole.result()).hasSizeBetween(Math.min(1, count), max).doesNotHaveDuplicates();
        }
    }

    @Test
    void aCandidateBehindAChosenOneIsLeftOut() {
        float[][] line = {{1, 0}, {2, 0}, {0, 1.5f}, {3, 0}, {-1, 0}};
        int[] nodes = {0, 4, 2, 1, 3};
        float[][] vectors = Arrays.stream(nodes).mapToObj(i -> line[i]).toArray(float[][]::new);
        float[] distances = {1, 1, 2.25f, 4, 9};
        PruneSteps prune = new PruneSteps(nodes, vectors, distances, 5, 1);
        assertThat(prune.run(Integer.MAX_VALUE)).isFalse();
        assertThat(prune.result()).as("1 and 3 are behind 0").containsExactly(0, 4, 2);
    }
}
