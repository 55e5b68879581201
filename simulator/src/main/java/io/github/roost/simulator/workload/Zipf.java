package io.github.roost.simulator.workload;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * A distribution over ranks from 0: Zipf's law, where rank r has weight 1/(r + 1) to the power of an exponent, or a geometric law, where each rank
 * is less likely than the previous one by the same factor. Immutable.
 */
public final class Zipf {
    private final double[] cumulative;

    /** Creates Zipf's law over {@code ranks} ranks. */
    public Zipf(int ranks, double exponent) {
        this(ranks, rank -> Math.pow(rank + 1.0, -exponent));
    }

    private Zipf(int ranks, IntToDoubleFunction weight) {
        cumulative = new double[ranks];
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            sum += weight.applyAsDouble(rank);
            cumulative[rank] = sum;
        }
        for (int rank = 0; rank < ranks; rank++) {
            cumulative[rank] /= sum;
        }
    }

    /** Creates a geometric law in which the first rank is {@code span} times as likely as the last. */
    static Zipf geometric(int ranks, double span) {
        return new Zipf(ranks, rank -> Math.pow(span, -rank / Math.max(1.0, ranks - 1)));
    }

    /** The exponent of Zipf's law in which the first rank is {@code span} times as likely as the last. */
    static double exponentOf(int ranks, double span) {
        return ranks == 1 ? 0 : Math.log(span) / Math.log(ranks);
    }

    /** The rank at a point of the cumulative distribution; the point is from 0 to 1 exclusive. */
    public int rank(double point) {
        int found = Arrays.binarySearch(cumulative, point);
        return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found);
    }
}
