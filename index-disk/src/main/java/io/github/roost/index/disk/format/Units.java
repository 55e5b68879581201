package io.github.roost.index.disk.format;

import java.util.Arrays;

/**
 * Scales of vectors, so that no result depends on their unit: squares of components under 1e-22 or over 1e19 are not floats. Powers of two, by
 * which a product has the same digits. Stateless.
 */
public final class Units {
    /** Differences from 2 to the power of minus this up to 2 to the power of this need no scale. */
    private static final int ORDINARY = 40;
    /** Of larger powers the reciprocal is not a float with all digits. */
    private static final int MAX_EXPONENT = 120;
    /** The sum of the squares of as many differences as a vector may have components is a float. */
    public static final float LARGEST = 1e17f;

    private Units() {}

    /**
     * The scale that brings a typical difference between rows near one, if it is far from it; else one, which costs nothing. An outlier
     * does not change what is typical.
     *
     * @param rows components of some rows, one row after the other
     */
    public static float scale(float[] rows, int dimension) {
        double typical = typical(rows, dimension);
        int exponent = Math.getExponent(typical);
        return typical == 0 || Math.abs(exponent) <= ORDINARY
                ? 1
                : Math.scalb(1f, Math.clamp(-exponent, -MAX_EXPONENT, MAX_EXPONENT));
    }

    /** The median of the differences between the components of adjacent rows; of the components if all rows are equal. */
    private static double typical(float[] rows, int dimension) {
        double[] differences = new double[rows.length + 1];
        int count = 0;
        for (int i = dimension; i < rows.length; i++) {
            count = addUnlessZero((double) rows[i] - rows[i - dimension], differences, count);
        }
        int end = count == 0 ? dimension : 0;
        for (int i = 0; i < end; i++) {
            count = addUnlessZero(rows[i], differences, count);
        }
        Arrays.sort(differences, 0, count);
        return differences[count / 2];
    }

    private static int addUnlessZero(double value, double[] to, int count) {
        to[count] = Math.abs(value);
        return value == 0 ? count : count + 1;
    }

    /** Multiplies components by a scale; what is too large becomes the largest whose squares are floats. */
    public static void multiply(float[] components, float scale) {
        for (int i = 0; i < components.length; i++) {
            components[i] = Math.clamp(components[i] * scale, -LARGEST, LARGEST);
        }
    }
}
