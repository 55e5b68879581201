package io.github.roost.index.disk.update;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.vector.Vectors;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PairDistanceTest {
    @Test
    void distancesAreTheSameBitForBitBeforeAndAfterTheCodeIsCompiled() {
        Random random = new Random(5);
        int pairs = 60;
        float[][] left = new float[pairs][];
        float[][] right = new float[pairs][];
        float[] first = new float[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            left[pair] = gaussian(1 + pair, random);
            right[pair] = gaussian(1 + pair, random);
            first[pair] = PairDistance.SQUARED.between(left[pair], right[pair]);
            assertThat(first[pair])
                    .isCloseTo(Vectors.squaredDistance(left[pair], right[pair]), within(1e-5f * first[pair]));
        }
        for (int turn = 0; turn < 3_000; turn++) {
            for (int pair = 0; pair < pairs; pair++) {
                if (PairDistance.SQUARED.between(left[pair], right[pair]) != first[pair]) {
                    throw new AssertionError("dimension " + (1 + pair) + " has another distance in turn " + turn);
                }
            }
        }
    }
}
