package io.github.roost.vector.math;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Scalar quantization to 8 bits per component with a scale per row (SQ8 of FAISS with the range of each vector instead of that of all): a
 * component is rounded to the nearest of {@code center + scale c} with c from -128 to 127, and is stored as the byte c + 128. The scale is chosen by the
 * row's own component farthest from the center, so that a row with odd values costs no other row any precision, and no row is out of
 * range. Rows of whole numbers within 8 bits of a whole center have scale 1, and lose nothing. {@link QueryWeights} compare queries with codes.
 *
 * <p>The array is not copied and must not be changed. Immutable, thread-safe.
 *
 * @param center the value of code 128 (c = 0), per dimension
 */
public record ScalarQuantizer(float[] center) {
    /** The code of the center; also the maximum distance of a value from the center, in scales. */
    public static final int MIDDLE = 128;
    /** The largest code. */
    public static final int MAX_CODE = 255;
    /** The largest c of a row whose scale is its own. */
    private static final int MAX_OWN = 127;
    /** Rows that a center is learned from: the error of their median is a twentieth of the rows' deviation. */
    private static final int SAMPLE = 1_024;

    /**
     * Returns a quantizer that is exact for whole numbers from -128 to 127: the code of a value is the value plus 128.
     *
     * @param dimension the dimension of the rows
     * @return a quantizer with a center of 0
     */
    public static ScalarQuantizer ofBytes(int dimension) {
        return new ScalarQuantizer(new float[dimension]);
    }

    /**
     * Returns the rows of a table to learn a center from.
     *
     * @param rows the number of rows, at least 1
     * @return up to 1,024 ordinals of rows, ascending and evenly spaced
     */
    public static int[] sample(int rows) {
        int size = Math.min(rows, SAMPLE);
        return IntStream.range(0, size).map(i -> (int) ((long) i * rows / size)).toArray();
    }

    /**
     * Returns a quantizer around the median of each dimension, which a few odd rows do not move. The center of whole
     * numbers with a range of at most 255 is the middle of a byte's range that covers them.
     *
     * @param sample rows of one dimension, at least one
     * @return the quantizer
     */
    public static ScalarQuantizer of(float[][] sample) {
        float[] center = new float[sample[0].length];
        float[] values = new float[sample.length];
        for (int d = 0; d < center.length; d++) {
            boolean whole = true;
            for (int row = 0; row < values.length; row++) {
                values[row] = sample[row][d];
                whole &= values[row] == Math.rint(values[row]);
            }
            Arrays.sort(values);
            center[d] = whole ? wholeCenter(values) : values[(values.length - 1) / 2];
        }
        return new ScalarQuantizer(center);
    }

    private static float wholeCenter(float[] sorted) {
        float min = sorted[0];
        float max = sorted[sorted.length - 1];
        if (min >= 0 && max <= MAX_CODE) {
            return MIDDLE;
        }
        if (min >= -MIDDLE && max < MIDDLE) {
            return 0;
        }
        double width = (double) max - min;
        return width <= MAX_CODE
                ? (float) (min - Math.floor((MAX_CODE - width) / 2) + MIDDLE)
                : sorted[(sorted.length - 1) / 2];
    }

    /** {@return the dimension of the rows} */
    public int dimension() {
        return center.length;
    }

    /**
     * Encodes a row.
     *
     * @param row a row of finite values; components beyond the dimension are ignored
     * @param codes receives one code per dimension; at least as long as the dimension
     * @return the row's scale, finite and at least 0; 0 if the row is the center
     */
    public float encode(float[] row, byte[] codes) {
        float max = 0;
        for (int d = 0; d < center.length; d++) {
            max = Math.max(max, Math.abs(row[d] - center[d]));
        }
        if (max > Float.MAX_VALUE) {
            return encodeFar(row, codes);
        }
        float scale = isWhole(row, max) ? 1 : max / MAX_OWN;
        for (int d = 0; d < center.length; d++) {
            // Floats and no call of clamp or rint: a third of the time.
            float fromCenter = scale > 0 ? (row[d] - center[d]) / scale : 0;
            codes[d] = (byte) (int) Math.max(0, Math.min(MAX_CODE, fromCenter + (MIDDLE + .5f)));
        }
        return scale;
    }

    private boolean isWhole(float[] row, float max) {
        if (max > MIDDLE) {
            return false;
        }
        for (int d = 0; d < center.length; d++) {
            float fromCenter = row[d] - center[d];
            if (fromCenter != Math.rint(fromCenter) || fromCenter == MIDDLE) {
                return false;
            }
        }
        return true;
    }

    /** Computes in double: a difference exceeds the largest float. */
    private float encodeFar(float[] row, byte[] codes) {
        double max = 0;
        for (int d = 0; d < center.length; d++) {
            max = Math.max(max, Math.abs((double) row[d] - center[d]));
        }
        float scale = (float) (max / MAX_OWN);
        for (int d = 0; d < center.length; d++) {
            codes[d] = (byte) Math.clamp(Math.round(((double) row[d] - center[d]) / scale) + MIDDLE, 0, MAX_CODE);
        }
        return scale;
    }

    /**
     * Decodes a row.
     *
     * @param codes the codes of a row; at least as long as the dimension
     * @param scale the row's scale
     * @return finite components: values beyond the largest float are clamped to it
     */
    public float[] decode(byte[] codes, float scale) {
        float[] row = new float[center.length];
        for (int d = 0; d < row.length; d++) {
            row[d] = center[d] + scale * centered(codes[d]);
            if (!Float.isFinite(row[d])) {
                double exact = center[d] + (double) scale * centered(codes[d]);
                row[d] = (float) Math.clamp(exact, -Float.MAX_VALUE, Float.MAX_VALUE);
            }
        }
        return row;
    }

    /**
     * Returns the part of a row's distance to a query that does not depend on the query: the squared distance of the decoded row from
     * the center, or 0 under inner product. See {@link QueryWeights}.
     *
     * @param innerProduct whether rows are compared by inner product rather than by squared distance
     * @param codes the codes of a row; at least as long as the dimension
     * @param scale the row's scale
     * @return the term, at most the largest float
     */
    public float term(boolean innerProduct, byte[] codes, float scale) {
        if (innerProduct) {
            return 0;
        }
        long squares = 0;
        for (int d = 0; d < center.length; d++) {
            int c = centered(codes[d]);
            squares += (long) c * c;
        }
        return (float) Math.min((double) scale * scale * squares, Float.MAX_VALUE);
    }

    /**
     * Returns the signed distance of a code's value from the center, in scales.
     *
     * @param code a stored code
     * @return from -128 to 127
     */
    public static int centered(byte code) {
        return Byte.toUnsignedInt(code) - MIDDLE;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ScalarQuantizer that && Arrays.equals(center, that.center);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(center);
    }

    @Override
    public String toString() {
        return "ScalarQuantizer of " + center.length + " dimensions";
    }
}
