package io.github.roost.testkit;

import java.util.Random;

/** Made-up vectors, the same for the same random numbers. */
public final class MadeUp {
    private MadeUp() {}

    /** Normally distributed components. */
    public static float[][] gaussian(int rows, int dimension, Random random) {
        float[][] values = new float[rows][];
        for (int row = 0; row < rows; row++) {
            values[row] = gaussian(dimension, random);
        }
        return values;
    }

    /** One vector of normally distributed components. */
    public static float[] gaussian(int dimension, Random random) {
        float[] values = new float[dimension];
        for (int i = 0; i < dimension; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }
}
