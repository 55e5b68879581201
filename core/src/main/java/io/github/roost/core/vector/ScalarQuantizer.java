package io.github.roost.core.vector;

import java.util.Arrays;

/**
 * Scalar quantisation to 8 bits per component (Jayant and Noll, 1984; SQ8 in FAISS), for authors of indexes: a component
 * becomes the nearest of 256 values, {@code zeroPoint + scale c} with c from -128 to 127, and is stored as the byte c + 128. What
 * is outside of these values becomes the nearest of them. How the bytes of a row are laid out, and how a query is compared with
 * them, is up to the index.
 *
 * <p>The arrays are not copied and must not be changed. Immutable, thread-safe.
 *
 * @param zeroPoints the value of code 128, per dimension
 * @param scales from one code's value to the next, per dimension, at least 0; 0 where all rows have the same value
 */
public record ScalarQuantizer(float[] zeroPoints, float[] scales) {
    /** The code that stands for a dimension's zero point, and the most scales that a value is away from it. */
    public static final int MIDDLE = 128;
    /** The largest code. */
    public static final int MAX_CODE = 255;
    /** Weights of queries that kernels multiply with codes are from its negative to it. */
    public static final int MAX_WEIGHT = 127;

    /**
     * Checks that there are as many zero points as scales.
     *
     * @throws IllegalArgumentException if there are not
     */
    public ScalarQuantizer {
        if (zeroPoints.length != scales.length) {
            throw new IllegalArgumentException(
                    "zero points and scales must have one length, got " + zeroPoints.length + " and " + scales.length);
        }
    }

    /**
     * A quantizer whose codes are the values themselves, less 128: for rows whose values are whole numbers from -128 to 127.
     *
     * @param dimension of the rows
     * @return zero points of 0 and scales of 1
     */
    public static ScalarQuantizer ofBytes(int dimension) {
        float[] scales = new float[dimension];
        Arrays.fill(scales, 1);
        return new ScalarQuantizer(new float[dimension], scales);
    }

    /** The least and greatest value of each dimension, of the rows that were added. Not thread-safe. */
    public static final class Ranges {
        private final float[] least;
        private final float[] greatest;
        private final boolean[] whole;

        /**
         * Of no rows yet.
         *
         * @param dimension of the rows
         */
        public Ranges(int dimension) {
            least = new float[dimension];
            greatest = new float[dimension];
            whole = new boolean[dimension];
            Arrays.fill(least, Float.POSITIVE_INFINITY);
            Arrays.fill(greatest, Float.NEGATIVE_INFINITY);
            Arrays.fill(whole, true);
        }

        /**
         * Adds a row.
         *
         * @param row of the dimension or longer
         */
        public void add(float[] row) {
            for (int d = 0; d < least.length; d++) {
                least[d] = Math.min(least[d], row[d]);
                greatest[d] = Math.max(greatest[d], row[d]);
                whole[d] &= row[d] == Math.rint(row[d]);
            }
        }

        /**
         * Adds all rows that were added to others.
         *
         * @param others of the same dimension
         */
        public void add(Ranges others) {
            for (int d = 0; d < least.length; d++) {
                least[d] = Math.min(least[d], others.least[d]);
                greatest[d] = Math.max(greatest[d], others.greatest[d]);
                whole[d] &= others.whole[d];
            }
        }

        /** Widens all ranges by an eighth at both ends, for rows that are not in a sample; but for bytes, which are all values. */
        public void widen() {
            for (int d = 0; d < least.length; d++) {
                if (!isBytes(d)) {
                    double more = width(d) / 8;
                    least[d] = (float) Math.max(-Float.MAX_VALUE, least[d] - more);
                    greatest[d] = (float) Math.min(Float.MAX_VALUE, greatest[d] + more);
                }
            }
        }

        /**
         * A quantizer of 256 even steps from the least to the greatest value of each dimension.
         *
         * @return a quantizer of the rows that were added, at least one
         */
        public ScalarQuantizer evenSteps() {
            ScalarQuantizer quantizer = new ScalarQuantizer(new float[least.length], new float[least.length]);
            for (int d = 0; d < least.length; d++) {
                setEvenSteps(quantizer, d);
            }
            return quantizer;
        }

        /**
         * {@link #evenSteps}, but with scales of 1 in dimensions of whole numbers within 255 of each other: what arrived as
         * bytes stays what it was.
         *
         * @return a quantizer of the rows that were added, at least one
         */
        public ScalarQuantizer wholeOrEvenSteps() {
            ScalarQuantizer quantizer = new ScalarQuantizer(new float[least.length], new float[least.length]);
            for (int d = 0; d < least.length; d++) {
                if (isBytes(d)) {
                    quantizer.scales[d] = 1;
                    quantizer.zeroPoints[d] = zeroPointOfBytes(d);
                } else {
                    setEvenSteps(quantizer, d);
                }
            }
            return quantizer;
        }

        /** In doubles: between the least and the greatest float there is more than the greatest float. */
        private void setEvenSteps(ScalarQuantizer quantizer, int d) {
            double scale = width(d) / MAX_CODE;
            quantizer.scales[d] = (float) scale;
            quantizer.zeroPoints[d] = (float) (least[d] + MIDDLE * scale);
        }

        /** Signed and unsigned bytes stay what they are; other values have as much room below as above. */
        private float zeroPointOfBytes(int d) {
            if (least[d] >= 0 && greatest[d] <= MAX_CODE) {
                return MIDDLE;
            }
            boolean signed = least[d] >= -MIDDLE && greatest[d] < MIDDLE;
            return signed ? 0 : (float) (least[d] - Math.floor((MAX_CODE - width(d)) / 2) + MIDDLE);
        }

        /** Whether all values are whole numbers that bytes can be for. */
        private boolean isBytes(int d) {
            return whole[d] && width(d) <= MAX_CODE;
        }

        private double width(int d) {
            return (double) greatest[d] - least[d];
        }
    }

    /** {@return the dimension of the rows} */
    public int dimension() {
        return scales.length;
    }

    /**
     * Writes the codes of a row.
     *
     * @param row of the dimension or longer
     * @param codes its first bytes are written, as many as dimensions
     */
    public void encode(float[] row, byte[] codes) {
        for (int d = 0; d < scales.length; d++) {
            // Floats, and no call of clamp or rint: that compiles to a third of the time.
            float fromZero = scales[d] > 0 ? (row[d] - zeroPoints[d]) / scales[d] : 0;
            codes[d] = (byte) (int) Math.max(0, Math.min(MAX_CODE, fromZero + (MIDDLE + .5f)));
        }
    }

    /**
     * The row that codes stand for.
     *
     * @param codes at least as many as dimensions
     * @return numbers, also where half a step beyond the learnt values is beyond all floats
     */
    public float[] decode(byte[] codes) {
        float[] row = new float[scales.length];
        for (int d = 0; d < row.length; d++) {
            row[d] = zeroPoints[d] + scales[d] * centred(codes[d]);
            if (!Float.isFinite(row[d])) {
                double exact = zeroPoints[d] + (double) scales[d] * centred(codes[d]);
                row[d] = (float) Math.clamp(exact, -Float.MAX_VALUE, Float.MAX_VALUE);
            }
        }
        return row;
    }

    /**
     * The squared distance of what codes stand for from the zero points: the part of its squared distance to a query that no
     * query changes.
     *
     * @param codes at least as many as dimensions
     * @return a number, at most the greatest float
     */
    public float squaredNorm(byte[] codes) {
        double squares = 0;
        for (int d = 0; d < scales.length; d++) {
            double component = (double) scales[d] * centred(codes[d]);
            squares += component * component;
        }
        return (float) Math.min(squares, Float.MAX_VALUE);
    }

    /**
     * How many scales the value of a code is away from its zero point.
     *
     * @param code as it is stored
     * @return from -128 to 127
     */
    public static int centred(byte code) {
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
