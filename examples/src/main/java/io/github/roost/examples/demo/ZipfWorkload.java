package io.github.roost.examples.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A skewed stream of searches: tables are asked by Zipf's law (the r-th most popular in proportion to 1/r to the power
 * of the exponent), each with the queries about its own section. Which table is how popular is drawn, not the largest
 * the most. The same seed gives the same stream. Immutable.
 */
final class ZipfWorkload {
    static final double EXPONENT = 1.0;
    private static final int PERIOD = 1 << 16;
    private static final long SEED = 42;

    private final int[] tables = new int[PERIOD];
    private final int[] queries = new int[PERIOD];

    /**
     * @param queriesOfTable for each table the ordinals of the queries to ask it, at least one per table
     */
    ZipfWorkload(List<int[]> queriesOfTable) {
        Random random = new Random(SEED);
        List<Integer> byRank = new ArrayList<>();
        for (int table = 0; table < queriesOfTable.size(); table++) {
            byRank.add(table);
        }
        Collections.shuffle(byRank, random);
        double[] cumulative = cumulativeShares(byRank.size());
        for (int i = 0; i < PERIOD; i++) {
            int found = Arrays.binarySearch(cumulative, random.nextDouble());
            int rank = Math.min(byRank.size() - 1, found < 0 ? -found - 1 : found);
            tables[i] = byRank.get(rank);
            int[] about = queriesOfTable.get(tables[i]);
            queries[i] = about[random.nextInt(about.length)];
        }
    }

    private static double[] cumulativeShares(int ranks) {
        double[] cumulative = new double[ranks];
        double sum = 0;
        for (int rank = 0; rank < ranks; rank++) {
            sum += 1 / Math.pow(rank + 1.0, EXPONENT);
            cumulative[rank] = sum;
        }
        for (int rank = 0; rank < ranks; rank++) {
            cumulative[rank] /= sum;
        }
        return cumulative;
    }

    /** The table that search {@code number} asks. The stream repeats after 65,536. */
    int table(long number) {
        return tables[(int) (number % PERIOD)];
    }

    /** The query that search {@code number} asks it. */
    int query(long number) {
        return queries[(int) (number % PERIOD)];
    }
}
