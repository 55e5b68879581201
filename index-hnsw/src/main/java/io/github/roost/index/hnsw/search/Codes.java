package io.github.roost.index.hnsw.search;

import io.github.roost.vector.Metric;
import io.github.roost.vector.spi.ScalarQuantizer;
import java.util.Arrays;

/**
 * SQ8 codes of rows, and the integer weights with which a query is compared with them. With x = zero point + scale c, c from -128 to
 * 127, and w = scale (q - zero point), the squared distance from a query q is the sum of (scale c)² (the row's term) minus twice
 * the sum of w c, plus a constant that is the same for all rows and left out. The weights w are rounded to integers from -127 to 127,
 * so that a search sums integers. If a few dimensions have a much wider range than the others, whose weights would round to
 * almost 0, the weights are integers from -16,256 to 16,256.
 *
 * @param metric under inner product there is no term, and w = scale q
 * @param quantizer encodes and decodes
 */
record Codes(Metric metric, ScalarQuantizer quantizer) {
    private static final int MAX_WEIGHT = ScalarQuantizer.MAX_WEIGHT;
    private static final int MAX_FINE_WEIGHT = MAX_WEIGHT * 128;
    /** Below this mean absolute weight, the fine range is used. */
    private static final int MIN_MEAN = 16;

    /** Learns the codes from all vectors of an image; {@code betweenNodes} runs once per node. */
    static Codes learn(GraphImage image, Runnable betweenNodes) {
        int dimension = image.shape().dimension();
        ScalarQuantizer.Ranges ranges = new ScalarQuantizer.Ranges(dimension);
        float[] vector = new float[dimension];
        for (int node = 0; node < image.shape().nodes(); node++) {
            betweenNodes.run();
            image.vector(node, vector);
            ranges.add(vector);
        }
        return new Codes(image.shape().metric(), ranges.evenSteps());
    }

    static Codes of(GraphImage image) {
        return new Codes(image.shape().metric(), new ScalarQuantizer(image.zeroPoints(), image.scales()));
    }

    /** Writes an image's codes, terms, zero points and scales; {@code betweenNodes} runs once per node. */
    void write(GraphImage image, Runnable betweenNodes) {
        image.setQuantizer(quantizer.zeroPoints(), quantizer.scales());
        float[] vector = new float[quantizer.dimension()];
        byte[] codes = new byte[vector.length];
        for (int node = 0; node < image.shape().nodes(); node++) {
            betweenNodes.run();
            image.vector(node, vector);
            image.setCodes(node, codes, encode(vector, codes));
        }
    }

    /** Encodes a vector into an array; returns its term. */
    float encode(float[] vector, byte[] codes) {
        quantizer.encode(vector, codes);
        return metric == Metric.INNER_PRODUCT ? 0 : quantizer.squaredNorm(codes);
    }

    /** A query's weights: a row's distance is its term plus slope times the sum of w c. */
    record Weights(int[] weights, float slope) {
        /** The sum of w c. */
        long sum(byte[] codes) {
            long sum = 0;
            for (int i = 0; i < weights.length; i++) {
                sum += (long) weights[i] * ScalarQuantizer.centred(codes[i]);
            }
            return sum;
        }
    }

    /** Computes a query's weights in floats, with the same steps as in C, so that both get the same weights. */
    Weights weights(float[] query) {
        boolean innerProduct = metric == Metric.INNER_PRODUCT;
        float[] zeroPoints = quantizer.zeroPoints();
        float[] scales = quantizer.scales();
        float[] exact = new float[scales.length];
        float max = 0;
        for (int i = 0; i < exact.length; i++) {
            exact[i] = scales[i] * (innerProduct ? query[i] : query[i] - zeroPoints[i]);
            max = Math.max(max, Math.abs(exact[i]));
        }
        float unit = max / MAX_WEIGHT;
        int[] weights = nearest(exact, unit);
        int sizes = Arrays.stream(weights).map(Math::abs).sum();
        if (sizes < MIN_MEAN * weights.length) {
            unit = max / MAX_FINE_WEIGHT;
            weights = nearest(exact, unit);
        }
        return new Weights(weights, innerProduct ? -unit : -2 * unit);
    }

    private static int[] nearest(float[] exact, float unit) {
        // If the query differs from the zero points by too little for the reciprocal to be finite, all weights are 0.
        float scale = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
        int[] weights = new int[exact.length];
        for (int i = 0; i < exact.length; i++) {
            weights[i] = (int) Math.rint(exact[i] * scale);
        }
        return weights;
    }
}
