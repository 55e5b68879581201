package io.github.roost.bench.peer;

import java.util.SplittableRandom;

/**
 * What all engines are given. Arrays are not copied.
 *
 * @param name for the report
 * @param rows vectors of one dimension
 * @param queries of the same dimension
 */
public record Workload(String name, float[][] rows, float[][] queries) {
    /**
     * Rows and queries drawn from one mixture of Gaussians: centres uniform in the unit cube, deviation .15 in every
     * dimension.
     *
     * @param seed makes it reproducible
     */
    public static Workload mixture(int rows, int queries, int dimension, int centres, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[][] means = new float[centres][dimension];
        for (float[] mean : means) {
            for (int i = 0; i < dimension; i++) {
                mean[i] = random.nextFloat();
            }
        }
        return new Workload(
                "%,d x %d mixture of %,d".formatted(rows, dimension, centres),
                drawn(rows, means, random),
                drawn(queries, means, random));
    }

    private static float[][] drawn(int count, float[][] means, SplittableRandom random) {
        float[][] vectors = new float[count][];
        for (int row = 0; row < count; row++) {
            float[] vector = means[random.nextInt(means.length)].clone();
            for (int i = 0; i < vector.length; i++) {
                vector[i] += (float) (.15 * random.nextGaussian());
            }
            vectors[row] = vector;
        }
        return vectors;
    }

    /** Components of a vector. */
    public int dimension() {
        return rows[0].length;
    }
}
