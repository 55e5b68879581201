package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.QueryWeights;
import io.github.roost.vector.math.ScalarQuantizer;
import io.github.roost.vector.math.ScalarQuantizer.Ranges;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Encodes rows as 8-bit codes, measures their loss, and prepares queries for comparison with codes; see {@link QueryWeights}.
 *
 * @param metric whose order of distances scores have
 * @param quantizer makes and reads the codes
 * @param maxLoss max loss of rows whose scores are relied on; every scan finds the other rows. Null to rely on all scores
 */
record ScalarCodec(
        Metric metric, ScalarQuantizer quantizer, @Nullable Loss maxLoss) {
    private static final int ROWS_PER_STEP = 4_096;
    private static final int ROWS_OF_SAMPLE = 4_096;
    /** One in this many rows of a sample is skipped as too far out to learn from. */
    private static final int FAR = 100;
    /** One in this many rows may lose more than the max loss. */
    private static final int UNUSUAL = 200;
    /** Rows outside the sample lose a little more; margins widen with this factor. */
    private static final double MORE_LOSS = 1.1;
    /** Larger, as only the rounding part of a margin grows with length. */
    private static final double MORE_LENGTH = 4;

    /** Learns from all rows. */
    static ScalarCodec learn(Metric metric, BuildWork work, IntFunction<float[]> rows, int count, int dimension) {
        Ranges all = new Ranges(dimension);
        work.run(count, ROWS_PER_STEP, (from, to) -> {
            Ranges own = new Ranges(dimension);
            for (int row = from; row < to; row++) {
                own.add(rows.apply(row));
            }
            synchronized (all) {
                all.add(own);
            }
        });
        return new ScalarCodec(metric, all.wholeOrEvenSteps(), null);
    }

    /**
     * Learns from a sample, for exact answers. The farthest rows of the sample may be
     * broken, and would take most of the steps: they are not learned from, and every scan finds them.
     */
    static ScalarCodec exact(Metric metric, IntFunction<float[]> rows, int count) {
        float[][] sample = new float[Math.min(count, ROWS_OF_SAMPLE)][];
        Arrays.setAll(sample, i -> rows.apply((int) ((long) i * count / sample.length)));
        Ranges ranges = new Ranges(sample[0].length);
        double[] mean = mean(sample);
        double farthest = quantile(Arrays.stream(sample).mapToDouble(row -> squaredDistance(row, mean)), FAR);
        for (float[] row : sample) {
            if (squaredDistance(row, mean) <= farthest) {
                ranges.add(row);
            }
        }
        ranges.widen();
        return new ScalarCodec(metric, ranges.wholeOrEvenSteps(), null).knowingLossOf(sample);
    }

    private static double[] mean(float[][] rows) {
        double[] mean = new double[rows[0].length];
        for (float[] row : rows) {
            for (int d = 0; d < mean.length; d++) {
                mean[d] += (double) row[d] / rows.length;
            }
        }
        return mean;
    }

    private static double squaredDistance(float[] row, double[] from) {
        double squares = 0;
        for (int d = 0; d < row.length; d++) {
            squares += (row[d] - from[d]) * (row[d] - from[d]);
        }
        return squares;
    }

    /** The value that one in {@code oneIn} values exceeds. */
    private static double quantile(DoubleStream values, int oneIn) {
        double[] sorted = values.sorted().toArray();
        return sorted[sorted.length - 1 - sorted.length / oneIn];
    }

    /** This codec, with the max loss of nearly all of these rows. */
    ScalarCodec knowingLossOf(float[][] rows) {
        List<Loss> losses =
                Arrays.stream(rows).map(row -> loss(row, encode(row))).toList();
        Loss maxLoss = new Loss(
                MORE_LENGTH * quantile(losses.stream().mapToDouble(Loss::length), UNUSUAL),
                MORE_LOSS * quantile(losses.stream().mapToDouble(Loss::error), UNUSUAL),
                MORE_LOSS * quantile(losses.stream().mapToDouble(Loss::codeLength), UNUSUAL));
        return new ScalarCodec(metric, quantizer, maxLoss);
    }

    /** Learns from a few rows, at least one, in the caller's thread. */
    static ScalarCodec of(Metric metric, float[][] rows) {
        Ranges ranges = new Ranges(rows[0].length);
        for (float[] row : rows) {
            ranges.add(row);
        }
        return new ScalarCodec(metric, ranges.wholeOrEvenSteps(), null);
    }

    /** The codes of a row, padded to the stride that a kernel reads. */
    byte[] encode(float[] row) {
        byte[] codes = new byte[CodeRun.strideOf(row.length)];
        quantizer.encode(row, codes);
        return codes;
    }

    /** The row that codes stand for. */
    float[] decode(byte[] codes) {
        return quantizer.decode(codes);
    }

    /** The part of the score of a row with these codes that no query changes. Never NaN. */
    float term(float[] row, byte[] codes) {
        return maxLoss == null || loss(row, codes).isWithin(maxLoss)
                ? quantizer.term(metric != Metric.SQUARED_L2, codes)
                : -Float.MAX_VALUE;
    }

    /**
     * The size of a row and the error of its codes.
     *
     * @param length the row's distance from the zero points
     * @param error the row's distance from its decoded codes
     * @param codeLength the norm of its codes, each less 128
     */
    record Loss(double length, double error, double codeLength) {
        private boolean isWithin(Loss max) {
            return length <= max.length && error <= max.error && codeLength <= max.codeLength;
        }
    }

    Loss loss(float[] row, byte[] codes) {
        float[] zeroPoints = quantizer.zeroPoints();
        float[] scales = quantizer.scales();
        double length = 0;
        double error = 0;
        double codeLength = 0;
        for (int d = 0; d < row.length; d++) {
            double component = (double) row[d] - zeroPoints[d];
            double lost = component - (double) scales[d] * ScalarQuantizer.centerd(codes[d]);
            length += component * component;
            error += lost * lost;
            codeLength += (double) ScalarQuantizer.centerd(codes[d]) * ScalarQuantizer.centerd(codes[d]);
        }
        return new Loss(Math.sqrt(length), Math.sqrt(error), Math.sqrt(codeLength));
    }

    /** A query in the form that a kernel compares with codes, with as many weights as it reads. */
    QueryWeights.Bytes weights(float[] query) {
        return QueryWeights.bytes(quantizer, metric != Metric.SQUARED_L2, query, CodeRun.strideOf(query.length));
    }

    /** The bounds that scores give on rows' distances from a query with these weights. */
    ScoreMargin margin(float[] query, QueryWeights.Bytes weights) {
        if (maxLoss == null) {
            throw new IllegalStateException("the codec does not know the rounding error of its rows");
        }
        if (metric == Metric.SQUARED_L2) {
            return ScoreMargin.of(metric, weights, maxLoss, weights.length() * weights.length(), 0);
        }
        float[] zeroPoints = quantizer.zeroPoints();
        double product = 0;
        double squares = 0;
        for (int d = 0; d < query.length; d++) {
            product += (double) query[d] * zeroPoints[d];
            squares += (double) zeroPoints[d] * zeroPoints[d];
        }
        double bias = metric == Metric.COSINE ? 1 : 0;
        return ScoreMargin.of(metric, weights, maxLoss, bias - product, Math.sqrt(squares));
    }
}
