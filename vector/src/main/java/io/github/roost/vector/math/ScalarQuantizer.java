package io.github.roost.vector.math;

import java.util.Arrays;

/**
 * Scalar quantization to 8 bits per component (Jayant and Noll, 1984; SQ8 in FAISS): a component is rounded to the
 * nearest of 256 values, {@code zeroPoint + scale c} with c from -128 to 127, and is stored as the byte c + 128. Components out of range
 * are clamped. The layout of a row's codes is up to the index; {@link QueryWeights} compare queries with codes.
 *
 * <p>The arrays are not copied and must not be changed. Immutable, thread-safe.
 *
 * @param zeroPoints the value of code 128 (c = 0), per dimension
 * @param scales the step between the values of successive codes, per dimension, at least 0; 0 if all rows have the same value
 */
public record ScalarQuantizer(float[] zeroPoints, float[] scales) {
    /** The code of a dimension's zero point; also the maximum distance of a value from the zero point, in scales. */
    public static final int MIDDLE = 128;
    /** The largest code. */
    public static final int MAX_CODE = 255;

    /**
     * Checks that zero points and scales have the same length.
     *
     * @throws IllegalArgumentException if they do not
     */
    public ScalarQuantizer {
        if (zeroPoints.length != scales.length) {
            throw new IllegalArgumentException(
                    "zero points and scales must have one length, got " + zeroPoints.length + " and " + scales.length);
        }
    }

    /**
     * Returns a quantizer that is exact for whole numbers from -128 to 127: the code of a value is the value plus 128.
     *
     * @param dimension the dimension of the rows
     * @return a quantizer with zero points of 0 and scales of 1
     */
    public static ScalarQuantizer ofBytes(int dimension) {
        float[] scales = new float[dimension];
        Arrays.fill(scales, 1);
        return new ScalarQuantizer(new float[dimension], scales);
    }

    /** The minimum and maximum of each dimension over the rows that were added. Not thread-safe. */
    public static final class Ranges {
        private final float[] min;
        private final float[] max;
        private final boolean[] whole;

        /**
         * Creates empty ranges.
         *
         * @param dimension the dimension of the rows
         */
        public Ranges(int dimension) {
            min = new float[dimension];
            max = new float[dimension];
            whole = new boolean[dimension];
            Arrays.fill(min, Float.POSITIVE_INFINITY);
            Arrays.fill(max, Float.NEGATIVE_INFINITY);
            Arrays.fill(whole, true);
        }

        /**
         * Adds a row.
         *
         * @param row a row; components beyond the dimension are ignored
         */
        public void add(float[] row) {
            for (int d = 0; d < min.length; d++) {
                min[d] = Math.min(min[d], row[d]);
                max[d] = Math.max(max[d], row[d]);
                whole[d] &= row[d] == Math.rint(row[d]);
            }
        }

        /**
         * Adds all rows that were added to other ranges.
         *
         * @param others the other ranges, of the same dimension
         */
        public void add(Ranges others) {
            for (int d = 0; d < min.length; d++) {
                min[d] = Math.min(min[d], others.min[d]);
                max[d] = Math.max(max[d], others.max[d]);
                whole[d] &= others.whole[d];
            }
        }

        /** Widens each range by an eighth at both ends, to cover rows that are not in the sample. Ranges of whole numbers that fit 8 bits stay. */
        public void widen() {
            for (int d = 0; d < min.length; d++) {
                if (!isBytes(d)) {
                    double more = width(d) / 8;
                    min[d] = (float) Math.max(-Float.MAX_VALUE, min[d] - more);
                    max[d] = (float) Math.min(Float.MAX_VALUE, max[d] + more);
                }
            }
        }

        /**
         * Returns a quantizer of 256 values, evenly spaced from the minimum to the maximum of each dimension.
         *
         * @return a quantizer of the rows that were added, at least one
         */
        public ScalarQuantizer evenSteps() {
            ScalarQuantizer quantizer = new ScalarQuantizer(new float[min.length], new float[min.length]);
            for (int d = 0; d < min.length; d++) {
                setEvenSteps(quantizer, d);
            }
            return quantizer;
        }

        /**
         * Returns a quantizer like {@link #evenSteps}, but with scale 1 in dimensions of whole numbers whose range is at most 255, so that
         * byte components are stored exactly.
         *
         * @return a quantizer of the rows that were added, at least one
         */
        public ScalarQuantizer wholeOrEvenSteps() {
            ScalarQuantizer quantizer = new ScalarQuantizer(new float[min.length], new float[min.length]);
            for (int d = 0; d < min.length; d++) {
                if (isBytes(d)) {
                    quantizer.scales[d] = 1;
                    quantizer.zeroPoints[d] = zeroPointOfBytes(d);
                } else {
                    setEvenSteps(quantizer, d);
                }
            }
            return quantizer;
        }

        /** Computes in double: the range may exceed the largest float. */
        private void setEvenSteps(ScalarQuantizer quantizer, int d) {
            double scale = width(d) / MAX_CODE;
            quantizer.scales[d] = (float) scale;
            quantizer.zeroPoints[d] = (float) (min[d] + MIDDLE * scale);
        }

        /** Chosen so that signed and unsigned bytes keep their values; other values are centerd in the range of codes. */
        private float zeroPointOfBytes(int d) {
            if (min[d] >= 0 && max[d] <= MAX_CODE) {
                return MIDDLE;
            }
            boolean signed = min[d] >= -MIDDLE && max[d] < MIDDLE;
            return signed ? 0 : (float) (min[d] - Math.floor((MAX_CODE - width(d)) / 2) + MIDDLE);
        }

        /** Whether all values are whole numbers with a range of at most 255. */
        private boolean isBytes(int d) {
            return whole[d] && width(d) <= MAX_CODE;
        }

        private double width(int d) {
            return (double) max[d] - min[d];
        }
    }

    /** {@return the dimension of the rows} */
    public int dimension() {
        return scales.length;
    }

    /**
     * Encodes a row.
     *
     * @param row a row; components beyond the dimension are ignored
     * @param codes receives one code per dimension; at least as long as the dimension
     */
    public void encode(float[] row, byte[] codes) {
        for (int d = 0; d < scales.length; d++) {
            // Floats and no call of clamp or rint: a third of the time.
            float fromZero = scales[d] > 0 ? (row[d] - zeroPoints[d]) / scales[d] : 0;
            codes[d] = (byte) (int) Math.max(0, Math.min(MAX_CODE, fromZero + (MIDDLE + .5f)));
        }
    }

    /**
     * Decodes a row.
     *
     * @param codes the codes of a row; at least as long as the dimension
     * @return finite components: values beyond the largest float are clamped to it
     */
    public float[] decode(byte[] codes) {
        float[] row = new float[scales.length];
        for (int d = 0; d < row.length; d++) {
            row[d] = zeroPoints[d] + scales[d] * centerd(codes[d]);
            if (!Float.isFinite(row[d])) {
                double exact = zeroPoints[d] + (double) scales[d] * centerd(codes[d]);
                row[d] = (float) Math.clamp(exact, -Float.MAX_VALUE, Float.MAX_VALUE);
            }
        }
        return row;
    }

    /**
     * Returns the part of a row's distance to a query that does not depend on the query: the squared distance of the decoded row from
     * the zero points, or 0 under inner product. See {@link QueryWeights}.
     *
     * @param innerProduct whether rows are compared by inner product rather than by squared distance
     * @param codes the codes of a row; at least as long as the dimension
     * @return the term, at most the largest float
     */
    public float term(boolean innerProduct, byte[] codes) {
        if (innerProduct) {
            return 0;
        }
        double squares = 0;
        for (int d = 0; d < scales.length; d++) {
            double component = (double) scales[d] * centerd(codes[d]);
            squares += component * component;
        }
        return (float) Math.min(squares, Float.MAX_VALUE);
    }

    /**
     * Returns the signed distance of a code's value from the zero point, in scales.
     *
     * @param code a stored code
     * @return from -128 to 127
     */
    public static int centerd(byte code) {
        return Byte.toUnsignedInt(code) - MIDDLE;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ScalarQuantizer that
                && Arrays.equals(zeroPoints, that.zeroPoints)
                && Arrays.equals(scales, that.scales);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(zeroPoints) + Arrays.hashCode(scales);
    }

    @Override
    public String toString() {
        return "ScalarQuantizer of " + scales.length + " dimensions";
    }
}
