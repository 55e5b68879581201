package io.github.roost.testkit;

import java.util.Random;

/** Made-up vectors, the same for the same random numbers. */
public final class MadeUp {
    private MadeUp() {}

    /** Normally distributed components. */
    public static float[][] gaussian(int rows, int dimension, Random random) {
        float[][] values = new float[rows][dimension];
        for (float[] row : values) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return values;
    }
}
