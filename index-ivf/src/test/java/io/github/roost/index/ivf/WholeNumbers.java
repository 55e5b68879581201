package io.github.roost.index.ivf;

import java.util.Arrays;
import java.util.Random;

/** Rows of bytes' whole numbers, which codes keep as they are. */
final class WholeNumbers {
    private WholeNumbers() {}

    static float[] vector(int dimension, Random random) {
        float[] vector = new float[dimension];
        for (int d = 0; d < dimension; d++) {
            vector[d] = random.nextInt(256);
        }
        return vector;
    }

    static float[] constant(int dimension, int value) {
        float[] vector = new float[dimension];
        Arrays.fill(vector, value);
        return vector;
    }
}
