package io.github.roost.testkit;

import java.util.SplittableRandom;

/**
 * A mixture of Gaussians with centers uniform in the unit cube and a standard deviation of 0.15 in every dimension.
 * Immutable; thread-safe.
 *
 * @param centers at least one, all of one dimension; not copied
 */
public record Mixture(float[][] centers) {
    private static final double DEVIATION = .15;

    /** Draws the centers. */
    public static Mixture of(int centers, int dimension, SplittableRandom random) {
        float[][] drawn = new float[centers][dimension];
        for (float[] center : drawn) {
            for (int i = 0; i < dimension; i++) {
                center[i] = random.nextFloat();
            }
        }
        return new Mixture(drawn);
    }

    /** Draws one vector of a random center. */
    public float[] draw(SplittableRandom random) {
        return drawAround(random.nextInt(centers.length), random);
    }

    /** Draws one vector of the given center. */
    public float[] drawAround(int center, SplittableRandom random) {
        float[] vector = centers[center].clone();
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
