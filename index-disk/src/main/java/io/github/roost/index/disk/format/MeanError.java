package io.github.roost.index.disk.format;

/**
 * The mean of the errors of many codes but for the largest: a few rows that no code stands for must not hide how well the codes stand for the others.
 * Errors are counted by their binary exponents, so no order matters. Thread-safe.
 */
public final class MeanError {
    /** The share of the errors that may be left out, and at least one. */
    private static final double LEFT_OUT = .01;
    /** Beyond the exponents of floats; those of zero, of infinity and of sums of many are the last ones. */
    private static final int MAX_EXPONENT = 150;

    private final int[] counts = new int[2 * MAX_EXPONENT + 1];
    private final double[] sums = new double[counts.length];
    private int count;

    public synchronized void add(double error) {
        int bin = Math.clamp(Math.getExponent(error), -MAX_EXPONENT, MAX_EXPONENT) + MAX_EXPONENT;
        counts[bin]++;
        sums[bin] += error;
        count++;
    }

    /** Number of errors, those that are left out included. */
    public synchronized int count() {
        return count;
    }

    /** Their mean; 0 if there is none. */
    public synchronized double mean() {
        int left = count - Math.max(1, (int) (LEFT_OUT * count));
        double sum = 0;
        int among = 0;
        for (int bin = 0; among < left; bin++) {
            among += counts[bin];
            sum += sums[bin];
        }
        return among == 0 ? 0 : sum / among;
    }
}
