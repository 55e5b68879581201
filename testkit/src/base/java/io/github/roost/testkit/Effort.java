package io.github.roost.testkit;

/**
 * How often a test repeats what looks for rare failures. The system property {@code roost.test.effort}, 1 by default, is a
 * factor of all such counts; {@code ./roost test --nightly} sets it to 10.
 */
public final class Effort {
    private static final int FACTOR = Integer.getInteger("roost.test.effort", 1);

    private Effort() {}

    /** {@code count} times the factor. */
    public static int times(int count) {
        return count * FACTOR;
    }
}
