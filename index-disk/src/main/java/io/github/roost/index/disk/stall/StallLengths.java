package io.github.roost.index.disk.stall;

import java.util.Arrays;

/**
 * Distribution of stall lengths, and budgets for filling a stall. The estimate is a kernel density (E. Parzen, "On Estimation of a
 * Probability Density Function and Mode", 1962) over the latest stalls, with the kernel of V. Epanechnikov, whose integrals need no
 * exponentials, and the bandwidth of B. Silverman's rule. Not thread-safe.
 *
 * <p>For a stall of length X with distribution F that has lasted t, work of length b overruns it by max(0, t + b - X). The expected overrun
 * is the integral of F(x | X > t) from t to t + b. {@link #budget} returns the longest b whose expected overrun is within a bound.
 */
final class StallLengths {
    /** Number of stalls that are kept. */
    static final int KEPT = 64;
    /** Number of stalls needed for an estimate. */
    static final int ENOUGH = 16;
    /** Number of new stalls after which the estimate is recomputed. */
    private static final int PER_ESTIMATE = 16;
    /** Number of intervals in which the estimate is tabulated. */
    private static final int POINTS = 128;

    private final double[] lengths = new double[KEPT];
    private int count;
    private int next;
    private int sinceEstimate;
    /** F and its integral at multiples of {@code width}. */
    private final double[] cumulative = new double[POINTS + 1];

    private final double[] overrun = new double[POINTS + 1];
    private double width;

    /**
     * Adds a stall that was not filled.
     *
     * @param nanos its length
     */
    void add(long nanos) {
        lengths[next] = Math.max(0, nanos);
        next = (next + 1) % KEPT;
        count = Math.min(KEPT, count + 1);
        sinceEstimate++;
        if (count >= ENOUGH && (sinceEstimate >= PER_ESTIMATE || width == 0)) {
            estimate();
        }
    }

    /** {@return whether there are enough stalls for an estimate} */
    boolean isKnown() {
        return width > 0;
    }

    private void estimate() {
        sinceEstimate = 0;
        double[] sorted = Arrays.copyOf(lengths, count);
        Arrays.sort(sorted);
        double bandwidth = bandwidth(sorted);
        width = (sorted[count - 1] + bandwidth) / POINTS;
        for (int point = 0; point <= POINTS; point++) {
            double at = point * width;
            double below = 0;
            double over = 0;
            for (int i = 0; i < count && sorted[i] - bandwidth < at; i++) {
                double u = Math.min(1, (at - sorted[i]) / bandwidth);
                below += .5 + .75 * (u - u * u * u / 3);
                over += u < 1 ? bandwidth * (3 / 16.0 + u / 2 + .375 * u * u - u * u * u * u / 16) : at - sorted[i];
            }
            cumulative[point] = below / count;
            overrun[point] = over / count;
        }
    }

    /** Silverman's rule, but at least a microsecond: all stalls may have the same length. */
    private static double bandwidth(double[] sorted) {
        int count = sorted.length;
        double mean = Arrays.stream(sorted).sum() / count;
        double squares = 0;
        for (double one : sorted) {
            squares += (one - mean) * (one - mean);
        }
        double quartiles = sorted[3 * count / 4] - sorted[count / 4];
        double spread = Math.min(Math.sqrt(squares / count), quartiles / 1.34);
        // For this kernel the factor is 2.34 n^(-1/5), for a normal kernel 1.06 n^(-1/5).
        return Math.max(1_000, 2.34 * .9 / 1.06 * spread * Math.pow(count, -.2));
    }

    private double at(double[] values, double nanos) {
        double point = nanos / width;
        int below = (int) point;
        if (below >= POINTS) {
            // F is 1 beyond the longest stall.
            return values[POINTS] + (values == overrun ? nanos - POINTS * width : 0);
        }
        return values[below] + (point - below) * (values[below + 1] - values[below]);
    }

    /**
     * Returns the expected overrun of work.
     *
     * @param elapsed the time since the stall began, in nanoseconds
     * @param nanos the length of the work
     * @return nanoseconds; all of the work if no known stall lasts longer than {@code elapsed}
     */
    double expectedOverrun(long elapsed, long nanos) {
        double from = elapsed;
        double work = nanos;
        double before = at(cumulative, from);
        if (before >= 1 - 1e-6) {
            return work;
        }
        double over = at(overrun, from + work) - at(overrun, from) - work * before;
        return Math.clamp(over / (1 - before), 0, work);
    }

    /**
     * Returns the longest work with a bounded expected overrun.
     *
     * @param elapsed the time since the stall began, in nanoseconds
     * @param maxOverrun the maximum expected overrun, in nanoseconds
     * @return nanoseconds, at least 0, accurate to 0.5 us; about {@code maxOverrun} if no known stall lasts longer than {@code elapsed}
     */
    long budget(long elapsed, double maxOverrun) {
        long min = 0;
        long max = (long) (POINTS * width) + (long) maxOverrun;
        while (max - min > 500) {
            long middle = min + (max - min) / 2;
            if (expectedOverrun(elapsed, middle) <= maxOverrun) {
                min = middle;
            } else {
                max = middle;
            }
        }
        return min;
    }

    /**
     * Returns the probability that a stall goes on for some more time.
     *
     * @param elapsed the time since it began, in nanoseconds
     * @param nanos the additional time
     * @return from 0 to 1
     */
    double goesOn(long elapsed, long nanos) {
        double from = elapsed;
        double left = 1 - at(cumulative, from);
        return left <= 1e-6 ? 0 : Math.clamp((1 - at(cumulative, from + nanos)) / left, 0, 1);
    }
}
