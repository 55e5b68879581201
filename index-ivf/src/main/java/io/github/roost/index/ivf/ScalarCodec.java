package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.CodeGroup;
import io.github.roost.index.ivf.kernel.CodeRun;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.ScalarQuantizer;
import java.util.Arrays;
import java.util.function.ToDoubleFunction;

/**
 * Encodes the rows of one list as 8-bit codes of their difference from the list's center, measures their loss, and bounds what it does to
 * scores; see {@link ScalarQuantizer}.
 *
 * @param metric whose distances scores are close to; under cosine they are close to the squared distances of unit vectors
 * @param quantizer makes and reads the codes
 * @param maxLoss max loss of rows whose scores are relied on; if floats are stored too, every scan finds the other rows
 * @param centerLength the norm of the center
 */
record ScalarCodec(Metric metric, ScalarQuantizer quantizer, Loss maxLoss, double centerLength) {
    /** Rows outside the sample lose a little more. */
    private static final double MORE_LOSS = 1.1;
    /** A row that loses more than this multiple of the median is odd: the others are not judged by it. */
    private static final double ODD = 4;

    ScalarCodec(Metric metric, ScalarQuantizer quantizer, Loss maxLoss) {
        this(metric, quantizer, maxLoss, norm(quantizer.center()));
    }

    /** A codec that knows the loss of ordinary rows like these, at least one. */
    static ScalarCodec of(Metric metric, ScalarQuantizer quantizer, float[][] rows) {
        Loss[] losses = new Loss[rows.length];
        byte[] codes = new byte[quantizer.dimension()];
        for (int i = 0; i < rows.length; i++) {
            losses[i] = loss(quantizer, rows[i], codes, quantizer.encode(rows[i], codes));
        }
        return new ScalarCodec(
                metric, quantizer, new Loss(ordinary(losses, Loss::length), ordinary(losses, Loss::error)));
    }

    private static double ordinary(Loss[] losses, ToDoubleFunction<Loss> size) {
        double[] sorted = Arrays.stream(losses).mapToDouble(size).sorted().toArray();
        double odd = ODD * sorted[sorted.length / 2];
        return MORE_LOSS
                * Arrays.stream(sorted).filter(value -> value <= odd).max().orElse(odd);
    }

    private static double norm(float[] values) {
        double squares = 0;
        for (float value : values) {
            squares += (double) value * value;
        }
        return Math.sqrt(squares);
    }

    /** This codec, with another max loss. */
    ScalarCodec with(Loss loss) {
        return new ScalarCodec(metric, quantizer, loss, centerLength);
    }

    /**
     * What the codes of a row lose.
     *
     * @param length the distance of the decoded row from the center
     * @param error the distance of the row from the decoded row
     */
    record Loss(double length, double error) {
        Loss times(double factor) {
            return new Loss(factor * length, factor * error);
        }

        /** The greater of both, per number. */
        Loss max(Loss other) {
            return new Loss(Math.max(length, other.length), Math.max(error, other.error));
        }
    }

    static Loss loss(ScalarQuantizer quantizer, float[] row, byte[] codes, float scale) {
        float[] center = quantizer.center();
        double length = 0;
        double error = 0;
        for (int d = 0; d < center.length; d++) {
            double decoded = (double) scale * ScalarQuantizer.centered(codes[d]);
            double lost = (double) row[d] - center[d] - decoded;
            length += decoded * decoded;
            error += lost * lost;
        }
        return new Loss(Math.sqrt(length), Math.sqrt(error));
    }

    /**
     * Encodes a row and writes its codes.
     *
     * @param isKept whether the row itself is stored too: a row that loses too much is then found by every scan
     */
    void write(CodeRun to, int at, float[] row, boolean isKept) {
        byte[] codes = new byte[to.stride()];
        float scale = quantizer.encode(row, codes);
        if (isKept && losesTooMuch(row, codes, scale)) {
            to.write(at, codes, -Float.MAX_VALUE, 0);
        } else {
            to.write(at, codes, quantizer.term(metric == Metric.INNER_PRODUCT, codes, scale), scale);
        }
    }

    private boolean losesTooMuch(float[] row, byte[] codes, float scale) {
        Loss loss = loss(quantizer, row, codes, scale);
        return !(loss.length <= maxLoss.length && loss.error <= maxLoss.error);
    }

    /** The row that codes stand for. */
    float[] decode(byte[] codes, float scale) {
        return quantizer.decode(codes, scale);
    }

    /** The bounds that the scores of a weighed query give on rows' distances. */
    ScoreMargin margin(CodeGroup group, int query) {
        return ScoreMargin.of(
                metric,
                quantizer.dimension(),
                group.squaredLength(query),
                group.squaredError(query),
                maxLoss,
                metric == Metric.INNER_PRODUCT ? centerLength : 0);
    }
}
