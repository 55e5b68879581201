package io.github.roost.index.hnsw.walk;

import io.github.roost.core.Metric;
import java.util.Arrays;

/**
 * Scalar quantisation (Jayant and Noll, 1984): a component is a byte, of 256 even steps between the least and the greatest
 * value of its dimension. With x = middle + step c, c from -128 to 127, and w = step (q - middle), the squared distance
 * from a query q is the row's own sum of (step c)², its term, less twice the sum of w c, plus what is the same for all
 * rows and therefore left out. The weights w become whole numbers from -127 to 127, so that a walk sums whole numbers; where
 * few dimensions are much wider than the others, which would leave next to nothing of these, from -16,256 to 16,256.
 *
 * @param metric inner products have no term, and weights w = step q
 * @param middles the value of code 128, by dimension
 * @param steps from one code to the next, by dimension; 0 where all rows are equal
 */
record Codes(Metric metric, float[] middles, float[] steps) {
    private static final int MIDDLE = 128;
    private static final int MOST_CODE = 255;
    private static final int MOST_WEIGHT = 127;
    private static final int MOST_FINE_WEIGHT = MOST_WEIGHT * 128;
    /** Weights must be fine where they are on average less than this. */
    private static final int LEAST_MEAN = 16;

    /** What the values of vectors lie between, by dimension; vectors are shown one after the other. */
    static final class Ranges {
        private final float[] least;
        private final float[] greatest;

        Ranges(int dimension) {
            least = new float[dimension];
            greatest = new float[dimension];
            Arrays.fill(least, Float.POSITIVE_INFINITY);
            Arrays.fill(greatest, Float.NEGATIVE_INFINITY);
        }

        void add(float[] vector) {
            for (int i = 0; i < least.length; i++) {
                least[i] = Math.min(least[i], vector[i]);
                greatest[i] = Math.max(greatest[i], vector[i]);
            }
        }

        /** The codes of the vectors that were shown, at least one. */
        Codes codes(Metric metric) {
            float[] middles = new float[least.length];
            float[] steps = new float[least.length];
            for (int i = 0; i < least.length; i++) {
                steps[i] = (greatest[i] - least[i]) / MOST_CODE;
                middles[i] = least[i] + MIDDLE * steps[i];
            }
            return new Codes(metric, middles, steps);
        }
    }

    /** From all vectors of an image; {@code betweenNodes} runs with each. */
    static Codes learn(GraphImage image, Runnable betweenNodes) {
        int dimension = image.shape().dimension();
        Ranges ranges = new Ranges(dimension);
        float[] vector = new float[dimension];
        for (int node = 0; node < image.shape().nodes(); node++) {
            betweenNodes.run();
            image.vector(node, vector);
            ranges.add(vector);
        }
        return ranges.codes(image.shape().metric());
    }

    /** Codes that are the values themselves, of vectors whose values are whole numbers from -128 to 127. */
    static Codes ofBytes(Metric metric, int dimension) {
        float[] steps = new float[dimension];
        Arrays.fill(steps, 1);
        return new Codes(metric, new float[dimension], steps);
    }

    static Codes of(GraphImage image) {
        return new Codes(image.shape().metric(), image.middles(), image.steps());
    }

    /** Writes an image's codes, their terms, and what they mean; {@code betweenNodes} runs with each node. */
    void write(GraphImage image, Runnable betweenNodes) {
        image.setSteps(middles, steps);
        float[] vector = new float[middles.length];
        byte[] codes = new byte[middles.length];
        for (int node = 0; node < image.shape().nodes(); node++) {
            betweenNodes.run();
            image.vector(node, vector);
            float term = encode(vector, codes);
            image.setCodes(node, codes, term);
        }
    }

    /** Writes the codes of a vector to an array; returns their term. */
    float encode(float[] vector, byte[] codes) {
        double term = 0;
        for (int i = 0; i < codes.length; i++) {
            double count = steps[i] == 0 ? 0 : Math.rint(((double) vector[i] - middles[i]) / steps[i]);
            int centred = (int) Math.clamp(count, -MIDDLE, MOST_CODE - MIDDLE);
            codes[i] = (byte) (centred + MIDDLE);
            double component = (double) steps[i] * centred;
            term += component * component;
        }
        return metric == Metric.INNER_PRODUCT ? 0 : (float) term;
    }

    /** A query as it is compared with codes: a row's distance is its term plus slope times the sum of w c. */
    record Weights(int[] weights, float slope) {
        /** The sum of w c. */
        long sum(byte[] codes) {
            long sum = 0;
            for (int i = 0; i < weights.length; i++) {
                sum += (long) weights[i] * (Byte.toUnsignedInt(codes[i]) - MIDDLE);
            }
            return sum;
        }
    }

    /** In floats, step by step as in C, so that both get the same weights. */
    Weights weights(float[] query) {
        boolean innerProduct = metric == Metric.INNER_PRODUCT;
        float[] exact = new float[middles.length];
        float most = 0;
        for (int i = 0; i < exact.length; i++) {
            exact[i] = steps[i] * (innerProduct ? query[i] : query[i] - middles[i]);
            most = Math.max(most, Math.abs(exact[i]));
        }
        float unit = most / MOST_WEIGHT;
        int[] weights = nearest(exact, unit);
        int sizes = Arrays.stream(weights).map(Math::abs).sum();
        if (sizes < LEAST_MEAN * weights.length) {
            unit = most / MOST_FINE_WEIGHT;
            weights = nearest(exact, unit);
        }
        return new Weights(weights, innerProduct ? -unit : -2 * unit);
    }

    private static int[] nearest(float[] exact, float unit) {
        // A query that differs from the middles by too little for floats weighs nothing.
        float scale = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
        int[] weights = new int[exact.length];
        for (int i = 0; i < exact.length; i++) {
            weights[i] = (int) Math.rint(exact[i] * scale);
        }
        return weights;
    }
}
