package io.github.roost.bench.workload;

import java.util.Arrays;

/** Ranks by Zipf's law: rank r, from 0, in proportion to 1/(r + 1) to the power of an exponent. Immutable. */
final class Zipf {
    private final double[] cumulative;

    Zipf(int ranks, double exponent) {
        cumulative = new double[ranks];
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            sum += Math.pow(rank + 1.0, -exponent);
            cumulative[rank] = sum;
        }
        for (int rank = 0; rank < ranks; rank++) {
            cumulative[rank] /= sum;
        }
    }

    /** The exponent by which the first of so many ranks is {@code span} times as likely as the last. */
    static double exponentOf(int ranks, double span) {
        return ranks == 1 ? 0 : Math.log(span) / Math.log(ranks);
    }

    /** The rank at a point from 0 to 1 exclusive. */
    int rank(double point) {
        int found = Arrays.binarySearch(cumulative, point);
        return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found);
    }
}
