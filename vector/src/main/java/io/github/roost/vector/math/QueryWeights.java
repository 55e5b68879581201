package io.github.roost.vector.math;

import java.util.Arrays;

/**
 * The integer weights by which a query is compared with the codes of a {@link ScalarQuantizer}. Stateless.
 *
 * <p>With x = center + scale c, c from -128 to 127, and w = q - center, the squared distance of a row x from a query q is the sum of
 * (scale c)², the row's {@linkplain ScalarQuantizer#term term}; less twice the scale times the sum of w c; plus a constant that is the same
 * for all rows of a center. Under inner product there is no term, w = q, and the negated product is minus the scale times the sum of w c,
 * again plus a constant. The weights are rounded to integers, so that a kernel sums products of integers: a row's score is
 * its term plus {@code slope} times the product of its scale and the sum of w c.
 */
public final class QueryWeights {
    /** The largest absolute value of a weight of one byte. */
    private static final int MAX = 127;

    private static final int MAX_FINE = MAX * 128;
    private static final int MAX_FINEST = MAX_FINE * 128;
    /** Below this mean absolute weight the next finer range is used. */
    private static final int MIN_MEAN = 16;

    private QueryWeights() {}

    /**
     * Weights from -127 to 127, or, if a few components are much larger than the others, whose weights would round to almost 0,
     * from -16,256 to 16,256, or from -2,080,768 to 2,080,768.
     *
     * @param weights one per dimension
     * @param slope the factor of the row's scale times the sum of w c
     */
    public record Fine(int[] weights, float slope) {
        /**
         * Returns the sum of w c.
         *
         * @param codes the codes of a row, one per weight
         * @return the exact sum
         */
        public long sum(byte[] codes) {
            long sum = 0;
            for (int i = 0; i < weights.length; i++) {
                sum += (long) weights[i] * ScalarQuantizer.centered(codes[i]);
            }
            return sum;
        }
    }

    /**
     * Computes weights in floats, with the same steps as the kernels in C, so that both get the same weights.
     *
     * @param center the center of the codes, one component per dimension
     * @param innerProduct whether rows are compared by inner product rather than by squared distance
     * @param query one component per dimension, all finite; further components are ignored
     * @return the weights
     */
    public static Fine fine(float[] center, boolean innerProduct, float[] query) {
        float[] exact = new float[center.length];
        float max = 0;
        for (int i = 0; i < exact.length; i++) {
            float component = innerProduct ? query[i] : query[i] - center[i];
            exact[i] = Math.clamp(component, -Float.MAX_VALUE, Float.MAX_VALUE);
            max = Math.max(max, Math.abs(exact[i]));
        }
        float unit = max / MAX;
        int[] weights = nearest(exact, unit);
        for (int range = MAX_FINE; range <= MAX_FINEST && isTooCoarse(weights); range *= 128) {
            unit = max / range;
            weights = nearest(exact, unit);
        }
        return new Fine(weights, innerProduct ? -unit : -2 * unit);
    }

    private static boolean isTooCoarse(int[] weights) {
        return Arrays.stream(weights).mapToLong(Math::abs).sum() < (long) MIN_MEAN * weights.length;
    }

    private static int[] nearest(float[] exact, float unit) {
        // If the query differs from the center by too little for the reciprocal to be finite, all weights are 0.
        float scale = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
        int[] weights = new int[exact.length];
        for (int i = 0; i < exact.length; i++) {
            weights[i] = (int) Math.rint(exact[i] * scale);
        }
        return weights;
    }
}
