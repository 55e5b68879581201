package io.github.roost.vector.kernel;

/**
 * Maps floats to ints of the same order, so that a distance and a row fit one long, and sorting or heaps need one signed comparison. The C
 * kernels compute the same keys ({@code float_order.h}). Stateless.
 */
public final class FloatOrder {
    private FloatOrder() {}

    /**
     * Returns an int key that compares like the float.
     *
     * @param value any float; -0 sorts before 0, so pass {@code value + 0f} if both are the same distance; NaN sorts after infinity
     * @return the key; keys compare as signed ints
     */
    public static int key(float value) {
        return flipped(Float.floatToIntBits(value));
    }

    /**
     * Returns the float of a key.
     *
     * @param key a result of {@link #key}
     * @return the float
     */
    public static float value(int key) {
        return Float.intBitsToFloat(flipped(key));
    }

    /** Negative floats sort by descending bits: inverts all bits but the sign. */
    private static int flipped(int bits) {
        return bits ^ (bits >> 31 & Integer.MAX_VALUE);
    }
}
