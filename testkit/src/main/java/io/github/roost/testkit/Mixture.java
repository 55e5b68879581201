package io.github.roost.testkit;

import java.util.SplittableRandom;

/**
 * A mixture of Gaussians with centres uniform in the unit cube and a standard deviation of 0.15 in every dimension.
 * Immutable; thread-safe.
 *
 * @param centres at least one, all of one dimension; not copied
 */
public record Mixture(float[][] centres) {
    private static final double DEVIATION = .15;

    /** Draws the centres. */
    public static Mixture of(int centres, int dimension, SplittableRandom random) {
        float[][] drawn = new float[centres][dimension];
        for (float[] centre : drawn) {
            for (int i = 0; i < dimension; i++) {
                centre[i] = random.nextFloat();
            }
        }
        return new Mixture(drawn);
    }

    /** Draws one vector of a random centre. */
    public float[] draw(SplittableRandom random) {
        return drawAround(random.nextInt(centres.length), random);
    }

    /** Draws one vector of the given centre. */
    public float[] drawAround(int centre, SplittableRandom random) {
        float[] vector = centres[centre].clone();
        for (int i = 0; i < vector.length; i++) {
            vector[i] += (float) (DEVIATION * random.nextGaussian());
        }
        return vector;
    }

    /** Draws some vectors. */
    public float[][] draw(int count, SplittableRandom random) {
        float[][] vectors = new float[count][];
        for (int i = 0; i < count; i++) {
            vectors[i] = draw(random);
        }
        return vectors;
    }
}
