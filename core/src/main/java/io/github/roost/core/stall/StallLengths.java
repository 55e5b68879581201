package io.github.roost.core.stall;

import java.util.Arrays;

/**
 * How long stalls are, by a kernel density (E. Parzen, "On Estimation of a Probability Density Function and Mode", 1962) over the latest
 * of them, and for how long one that has lasted some time may be filled. The kernel is V. Epanechnikov's, which has integrals without
 * exponentials, and the bandwidth B. Silverman's rule. Not thread-safe.
 *
 * <p>For a stall of length X with distribution F that has lasted t, work of b overruns it by max(0, t + b - X), in expectation by the
 * integral of F(x | X > t) from t to t + b. {@link #budget} gives the longest b for which that is within a bound.
 */
public final class StallLengths {
    /** Stalls that are kept. */
    static final int KEPT = 64;
    /** Stalls without which nothing is known. */
    static final int ENOUGH = 16;
    /** New stalls after which the estimate is made anew. */
    private static final int PER_ESTIMATE = 16;
    /** Points at which the estimate is tabulated. */
    private static final int POINTS = 128;

    private final double[] lengths = new double[KEPT];
    private int count;
    private int next;
    private int sinceEstimate;
    /** F and its integral at multiples of {@code width}. */
    private final double[] cumulative = new double[POINTS + 1];

    private final double[] overrun = new double[POINTS + 1];
    private double width;

    /** Nothing is known. */
    public StallLengths() {}

    /**
     * Counts a stall.
     *
     * @param nanos its length, of a stall that was not filled
     */
    public void add(long nanos) {
        lengths[next] = Math.max(0, nanos);
        next = (next + 1) % KEPT;
        count = Math.min(KEPT, count + 1);
        sinceEstimate++;
        if (count >= ENOUGH && (sinceEstimate >= PER_ESTIMATE || width == 0)) {
            estimate();
        }
    }

    /** {@return whether enough is known for budgets} */
    public boolean isKnown() {
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

    /** Silverman's, at least a microsecond: stalls may all be alike. */
    private static double bandwidth(double[] sorted) {
        int count = sorted.length;
        double mean = Arrays.stream(sorted).sum() / count;
        double squares = 0;
        for (double one : sorted) {
            squares += (one - mean) * (one - mean);
        }
        double quartiles = sorted[3 * count / 4] - sorted[count / 4];
        double spread = Math.min(Math.sqrt(squares / count), quartiles / 1.34);
        // For this kernel 2.34 n^(-1/5), where it is 1.06 for the normal density.
        return Math.max(1_000, 2.34 * .9 / 1.06 * spread * Math.pow(count, -.2));
    }

    private double at(double[] values, double nanos) {
        double point = nanos / width;
        int below = (int) point;
        if (below >= POINTS) {
            // Beyond all of them F is 1.
            return values[POINTS] + (values == overrun ? nanos - POINTS * width : 0);
        }
        return values[below] + (point - below) * (values[below + 1] - values[below]);
    }

    /**
     * The overrun to be expected of work.
     *
     * @param elapsed how long the stall has lasted, in nanoseconds
     * @param nanos how long the work takes
     * @return nanoseconds; all of the work where a stall so long is not known
     */
    public double expectedOverrun(long elapsed, long nanos) {
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
     * For how long work may go on.
     *
     * @param elapsed how long the stall has lasted, in nanoseconds
     * @param mostOverrun what overrun may be expected of it, in nanoseconds
     * @return nanoseconds, at least 0; {@code mostOverrun} where a stall so long is not known
     */
    public long budget(long elapsed, double mostOverrun) {
        long least = 0;
        long most = (long) (POINTS * width) + (long) mostOverrun;
        while (most - least > 500) {
            long middle = least + (most - least) / 2;
            if (expectedOverrun(elapsed, middle) <= mostOverrun) {
                least = middle;
            } else {
                most = middle;
            }
        }
        return least;
    }

    /**
     * How likely a stall that has lasted some time goes on after more.
     *
     * @param elapsed how long it has lasted, in nanoseconds
     * @param nanos how much more
     * @return from 0 to 1
     */
    public double goesOn(long elapsed, long nanos) {
        double from = elapsed;
        double left = 1 - at(cumulative, from);
        return left <= 1e-6 ? 0 : Math.clamp((1 - at(cumulative, from + nanos)) / left, 0, 1);
    }
}
