package io.github.roost.index.remote;

import java.util.Arrays;

/**
 * How many partitions searches visit that do not say: the fewest of which some share of true neighbours is in, as far as a sample of queries
 * can tell. A pure function of which partition each true neighbour of these is in.
 */
final class VisitedChoice {
    /** Of what a target allows to be missed, the share that is left to what searches miss within partitions. */
    private static final double LEFT = .1;

    /**
     * How many standard errors of the sample's mean the recall must be over the target: other queries come to less than the target once
     * in 20 samples.
     */
    private static final double STANDARD_ERRORS = 1.645;

    private VisitedChoice() {}

    /**
     * What was chosen.
     *
     * @param visited partitions, at least 1
     * @param recall share of the sample's true neighbours that are in those; not a number where there was no sample
     */
    record Chosen(int visited, double recall) {}

    /**
     * Chooses.
     *
     * @param ranks by query, for each of its true neighbours, of which there is at least one: which of the partitions that the query
     *     visits has it, from 0
     * @param partitions how many there are
     * @param target recall to be reached, over 0, at most 1
     */
    static Chosen of(int[][] ranks, int partitions, double target) {
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

    /** Of each query's neighbours, the share that is in so many partitions. */
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
        // All of them is as much as there can be, and has no error.
        return mean - STANDARD_ERRORS * error >= needed - 1e-9;
    }

    private static double mean(double[] shares) {
        return Arrays.stream(shares).average().orElseThrow();
    }
}
