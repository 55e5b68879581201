package io.github.roost.core;

/**
 * The order of floats as an order of ints, so that a distance and a row can be one long: sorted, or kept in a heap, by one
 * signed comparison. The C kernels have the same keys ({@code float_order.h}). Stateless.
 */
public final class FloatOrder {
    private FloatOrder() {}

    /**
     * An int that compares with those of other floats as the floats do.
     *
     * @param value any float; -0 comes before 0, so pass {@code value + 0f} where both are one distance; not a number comes
     *     after infinity
     * @return the key, which is less than another value's, as a signed int, where {@code value} is less
     */
    public static int key(float value) {
        return flipped(Float.floatToIntBits(value));
    }

    /**
     * The float that a key was made of.
     *
     * @param key of {@link #key}
     * @return its value
     */
    public static float value(int key) {
        return Float.intBitsToFloat(flipped(key));
    }

    /** The greater the size of a negative float, the greater its bits: all but the sign are turned round. */
    private static int flipped(int bits) {
        return bits ^ (bits >> 31 & Integer.MAX_VALUE);
    }
}
