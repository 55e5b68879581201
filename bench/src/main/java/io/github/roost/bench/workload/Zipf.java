package io.github.roost.bench.workload;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/**
 * Ranks by Zipf's law: rank r, from 0, in proportion to 1/(r + 1) to the power of an exponent; or by a geometric one, each
 * rank by the same factor rarer than the one before. Immutable.
 */
public final class Zipf {
    private final double[] cumulative;

    /** Of so many ranks. */
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

    /** Ranks of which the first is {@code span} times as likely as the last, each by the same factor rarer than the one before. */
    static Zipf geometric(int ranks, double span) {
        return new Zipf(ranks, rank -> Math.pow(span, -rank / Math.max(1.0, ranks - 1)));
    }

    /** The exponent by which the first of so many ranks is {@code span} times as likely as the last. */
    static double exponentOf(int ranks, double span) {
        return ranks == 1 ? 0 : Math.log(span) / Math.log(ranks);
    }

    /** The rank at a point from 0 to 1 exclusive. */
    public int rank(double point) {
        int found = Arrays.binarySearch(cumulative, point);
        return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found);
    }
}
