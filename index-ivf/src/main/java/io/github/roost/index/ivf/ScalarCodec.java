package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.index.ivf.kernel.CodeRun;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Scalar quantisation (Jayant and Noll, 1984; SQ8 in FAISS): a component is a byte, of 256 even steps between the least and the greatest that
 * its dimension had when the codec learnt; what is outside becomes the nearest of them. A dimension of whole numbers
 * within 255 of each other has steps of 1, so that what arrived as bytes stays what it was.
 *
 * <p>With x = middle + step c, c from -128 to 127, and w = step (q - middle), the squared distance to a query q is the sum
 * of (step c)², which is the row's own and its term, less twice the sum of w c, which a kernel makes of whole numbers, plus
 * what is the same for all rows and therefore left out. The weights w become whole numbers from -127 to 127 for that.
 *
 * @param metric what scores are in the order of
 * @param middles the value of byte 128, by dimension
 * @param steps from one byte to the next, by dimension; at least 0
 * @param most what rows lose at most for their scores to be relied on, others are found by every scan; null to go by the
 *     scores of all
 */
record ScalarCodec(
        Metric metric,
        float[] middles,
        float[] steps,
        @Nullable Loss most) {
    private static final int ROWS_PER_STEP = 4_096;
    private static final int ROWS_OF_SAMPLE = 4_096;
    /** Of so many rows of a sample one may be too far out to be learnt from. */
    private static final int FAR = 100;
    /** Of so many rows one may lose more than is reckoned with. */
    private static final int UNUSUAL = 200;
    /** Rows that are not in a sample lose a little more; margins widen with it. */
    private static final double MORE_LOSS = 1.1;
    /** With length only what rounding takes grows. */
    private static final double MORE_LENGTH = 4;

    private static final int MOST_CODE = 255;
    /** The byte that stands for a dimension's middle, and the most steps that one is away from it. */
    static final int MIDDLE = 128;
    /** Weights of queries are from its negative to it. */
    static final int MOST_WEIGHT = 127;

    /** Learns from all rows. */
    static ScalarCodec learn(Metric metric, BuildWork work, RowSource rows, int count, int dimension) {
        Span[] spans = new Span[dimension];
        Arrays.setAll(spans, d -> new Span());
        work.run(count, ROWS_PER_STEP, (from, to) -> {
            Span[] own = new Span[dimension];
            Arrays.setAll(own, d -> new Span());
            for (int row = from; row < to; row++) {
                float[] components = rows.row(row);
                for (int d = 0; d < dimension; d++) {
                    own[d].add(components[d]);
                }
            }
            synchronized (spans) {
                for (int d = 0; d < dimension; d++) {
                    spans[d].add(own[d]);
                }
            }
        });
        return of(metric, spans);
    }

    /**
     * Learns from a sample, for rows that are to be found where distances to them say so. The farthest of the sample may be
     * broken, and would take most of the steps: they are left to be found by every scan.
     */
    static ScalarCodec exact(Metric metric, RowSource rows, int count) {
        float[][] sample = new float[Math.min(count, ROWS_OF_SAMPLE)][];
        Arrays.setAll(sample, i -> rows.row((int) ((long) i * count / sample.length)));
        Span[] spans = new Span[sample[0].length];
        Arrays.setAll(spans, d -> new Span());
        double[] mean = mean(sample);
        double most = most(Arrays.stream(sample).mapToDouble(row -> squaredDistance(row, mean)), FAR);
        for (float[] row : sample) {
            if (squaredDistance(row, mean) <= most) {
                for (int d = 0; d < spans.length; d++) {
                    spans[d].add(row[d]);
                }
            }
        }
        for (Span span : spans) {
            span.widen();
        }
        return of(metric, spans).knowingLossOf(sample);
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

    /** The value that one of {@code oneIn} is above. */
    private static double most(DoubleStream values, int oneIn) {
        double[] sorted = values.sorted().toArray();
        return sorted[sorted.length - 1 - sorted.length / oneIn];
    }

    /** This codec, with what nearly all of such rows lose at most. */
    ScalarCodec knowingLossOf(float[][] rows) {
        List<Loss> losses =
                Arrays.stream(rows).map(row -> loss(row, encode(row))).toList();
        Loss most = new Loss(
                MORE_LENGTH * most(losses.stream().mapToDouble(Loss::length), UNUSUAL),
                MORE_LOSS * most(losses.stream().mapToDouble(Loss::error), UNUSUAL),
                MORE_LOSS * most(losses.stream().mapToDouble(Loss::codeLength), UNUSUAL));
        return new ScalarCodec(metric, middles, steps, most);
    }

    /** Learns from a few rows, at least one, in the caller's thread. */
    static ScalarCodec of(Metric metric, float[][] rows) {
        Span[] spans = new Span[rows[0].length];
        Arrays.setAll(spans, d -> new Span());
        for (float[] row : rows) {
            for (int d = 0; d < spans.length; d++) {
                spans[d].add(row[d]);
            }
        }
        return of(metric, spans);
    }

    private static ScalarCodec of(Metric metric, Span[] spans) {
        float[] middles = new float[spans.length];
        float[] steps = new float[spans.length];
        for (int d = 0; d < spans.length; d++) {
            steps[d] = spans[d].step();
            middles[d] = spans[d].middle();
        }
        return new ScalarCodec(metric, middles, steps, null);
    }

    /** The values that a dimension takes. */
    private static final class Span {
        private float least = Float.POSITIVE_INFINITY;
        private float greatest = Float.NEGATIVE_INFINITY;
        private boolean whole = true;

        void add(float value) {
            least = Math.min(least, value);
            greatest = Math.max(greatest, value);
            whole &= value == Math.rint(value);
        }

        void add(Span other) {
            least = Math.min(least, other.least);
            greatest = Math.max(greatest, other.greatest);
            whole &= other.whole;
        }

        /** For values that are not in a sample; bytes are all values already. */
        void widen() {
            if (!isBytes()) {
                double more = width() / 8;
                least = (float) Math.max(-Float.MAX_VALUE, least - more);
                greatest = (float) Math.min(Float.MAX_VALUE, greatest + more);
            }
        }

        float step() {
            return isBytes() ? 1 : (float) (width() / MOST_CODE);
        }

        /** The value of byte 128: signed and unsigned bytes stay what they are, other values have as much room below as above. */
        float middle() {
            if (!isBytes()) {
                return (float) (least + MIDDLE * (width() / MOST_CODE));
            }
            if (least >= 0 && greatest <= MOST_CODE) {
                return MIDDLE;
            }
            boolean signed = least >= -MIDDLE && greatest < MIDDLE;
            return signed ? 0 : (float) (least - Math.floor((MOST_CODE - width()) / 2) + MIDDLE);
        }

        /** Whether all values are whole numbers that bytes can be for. */
        private boolean isBytes() {
            return whole && width() <= MOST_CODE;
        }

        private double width() {
            return (double) greatest - least;
        }
    }

    /** The bytes of a row, as many as a kernel reads. */
    byte[] encode(float[] row) {
        byte[] codes = new byte[CodeRun.strideOf(row.length)];
        for (int d = 0; d < row.length; d++) {
            // Floats, and no call of clamp or rint: that compiles to a third of the time.
            float fromMiddle = steps[d] > 0 ? (row[d] - middles[d]) / steps[d] : 0;
            codes[d] = (byte) (int) Math.max(0, Math.min(MOST_CODE, fromMiddle + (MIDDLE + .5f)));
        }
        return codes;
    }

    /** The row that bytes stand for: numbers, also where half a step beyond the learnt values is beyond all floats. */
    float[] decode(byte[] codes) {
        float[] row = new float[middles.length];
        for (int d = 0; d < row.length; d++) {
            row[d] = middles[d] + steps[d] * centred(codes[d]);
            if (!Float.isFinite(row[d])) {
                double exact = middles[d] + (double) steps[d] * centred(codes[d]);
                row[d] = (float) Math.clamp(exact, -Float.MAX_VALUE, Float.MAX_VALUE);
            }
        }
        return row;
    }

    /** The part of the score of a row, of which these are the codes, that no query changes. A number. */
    float term(float[] row, byte[] codes) {
        return most == null || loss(row, codes).isWithin(most) ? term(codes) : -Float.MAX_VALUE;
    }

    private float term(byte[] codes) {
        if (metric != Metric.SQUARED_L2) {
            return 0;
        }
        double squares = 0;
        for (int d = 0; d < middles.length; d++) {
            double component = (double) steps[d] * centred(codes[d]);
            squares += component * component;
        }
        return (float) Math.min(squares, Float.MAX_VALUE);
    }

    /**
     * What a row is, and what its bytes are.
     *
     * @param length the row's distance from the middles
     * @param error the row's distance from what its bytes stand for
     * @param codeLength the length of its bytes, each less 128
     */
    record Loss(double length, double error, double codeLength) {
        private boolean isWithin(Loss most) {
            return length <= most.length && error <= most.error && codeLength <= most.codeLength;
        }
    }

    Loss loss(float[] row, byte[] codes) {
        double length = 0;
        double error = 0;
        double codeLength = 0;
        for (int d = 0; d < row.length; d++) {
            double component = (double) row[d] - middles[d];
            double lost = component - (double) steps[d] * centred(codes[d]);
            length += component * component;
            error += lost * lost;
            codeLength += (double) centred(codes[d]) * centred(codes[d]);
        }
        return new Loss(Math.sqrt(length), Math.sqrt(error), Math.sqrt(codeLength));
    }

    private static int centred(byte code) {
        return Byte.toUnsignedInt(code) - MIDDLE;
    }

    /**
     * A query as a kernel compares it with codes: a row's score is its term plus slope times the sum of w c.
     *
     * @param sum of the weights
     * @param length the query's distance from the middles; of a metric of products its length
     * @param error the distance of the weights from what they were before they were rounded
     */
    record Weights(byte[] weights, int sum, float slope, double length, double error) {}

    Weights weights(float[] query) {
        boolean squared = metric == Metric.SQUARED_L2;
        double most = 0;
        double length = 0;
        for (int d = 0; d < query.length; d++) {
            double component = squared ? (double) query[d] - middles[d] : (double) query[d];
            most = Math.max(most, Math.abs(steps[d] * component));
            length += component * component;
        }
        byte[] weights = new byte[CodeRun.strideOf(query.length)];
        if (most == 0) {
            return new Weights(weights, 0, 0, Math.sqrt(length), 0);
        }
        int timesUnit = squared ? 2 : 1;
        float slope = (float) Math.min(timesUnit * most / MOST_WEIGHT, Float.MAX_VALUE);
        // Of the rounded slope, so that it too is in the error.
        double unit = (double) slope / timesUnit;
        double perUnit = unit == 0 ? 0 : 1 / unit;
        double error = 0;
        int sum = 0;
        for (int d = 0; d < query.length; d++) {
            double exact = steps[d] * (squared ? (double) query[d] - middles[d] : (double) query[d]);
            double weight = Math.rint(Math.clamp(exact * perUnit, -MOST_WEIGHT, MOST_WEIGHT));
            double lost = exact - weight * unit;
            weights[d] = (byte) weight;
            sum += (int) weight;
            error += lost * lost;
        }
        return new Weights(weights, sum, -slope, Math.sqrt(length), Math.sqrt(error));
    }

    /** What the scores of rows say of their distances from a query whose weights these are. */
    ScoreMargin margin(float[] query, Weights weights) {
        if (most == null) {
            throw new IllegalStateException("the codec does not know what rows lose");
        }
        if (metric == Metric.SQUARED_L2) {
            return ScoreMargin.of(metric, weights, most, weights.length() * weights.length(), 0);
        }
        double product = 0;
        double squares = 0;
        for (int d = 0; d < query.length; d++) {
            product += (double) query[d] * middles[d];
            squares += (double) middles[d] * middles[d];
        }
        double bias = metric == Metric.COSINE ? 1 : 0;
        return ScoreMargin.of(metric, weights, most, bias - product, Math.sqrt(squares));
    }
}
