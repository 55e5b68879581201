package io.github.roost.index.remote.build;

import java.util.Arrays;

/**
 * Chooses the default number of partitions per search: the smallest number that has the target share of true neighbors, as estimated from a
 * sample of queries. A pure function of the ranks of the sample's true neighbors.
 */
public final class VisitedChoice {
    /** The share of the allowed misses that is reserved for rows that searches miss within partitions. */
    private static final double LEFT = .1;

    /**
     * Standard errors by which the sample's mean recall must exceed the target, so that the recall of other queries falls short for one sample in
     * 20 (one-sided 95 % confidence).
     */
    private static final double STANDARD_ERRORS = 1.645;

    private VisitedChoice() {}

    /**
     * The choice.
     *
     * @param visited number of partitions, at least 1
     * @param recall share of the sample's true neighbors in these partitions; NaN without a sample
     */
    public record Chosen(int visited, double recall) {}

    /**
     * Chooses the number of partitions.
     *
     * @param ranks per query, for each of its true neighbors (at least one): the rank, from 0, of the partition that has it in the query's order
     *     of visits
     * @param partitions number of partitions of the pool
     * @param target recall to be reached, over 0, at most 1
     */
    public static Chosen of(int[][] ranks, int partitions, double target) {
        if (ranks.length == 0) {
            return new Chosen(1, Double.NaN);
        }
        double needed = target + (1 - target) * LEFT;
        int visited = 1;
        while (visited < partitions && !reaches(shares(ranks, visited), needed)) {
            visited++;
        }
        return new Chosen(visited, mean(shares(ranks, visited)));
    }

    /** Per query, the share of its neighbors in the first {@code visited} partitions. */
    private static double[] shares(int[][] ranks, int visited) {
        return Arrays.stream(ranks)
                .mapToDouble(of -> (double)
                                Arrays.stream(of).filter(rank -> rank < visited).count()
                        / of.length)
                .toArray();
    }

    private static boolean reaches(double[] shares, double needed) {
        double mean = mean(shares);
        double squares = Arrays.stream(shares)
                .map(share -> (share - mean) * (share - mean))
                .sum();
        double error = Math.sqrt(squares / Math.max(1, shares.length - 1) / shares.length);
        // If every query has all of its neighbors the error is 0; the tolerance is for rounding.
        return mean - STANDARD_ERRORS * error >= needed - 1e-9;
    }

    private static double mean(double[] shares) {
        return Arrays.stream(shares).average().orElseThrow();
    }
}
