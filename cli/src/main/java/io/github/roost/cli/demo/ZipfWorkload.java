package io.github.roost.cli.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A skewed stream of searches. Tables are chosen by Zipf's law (the r-th most popular with probability proportional to 1/r to the power of the
 * exponent), each with queries about its own section. The order of popularity is random, independent of table size. The same seed gives the same
 * stream. Immutable.
 */
final class ZipfWorkload {
    static final double EXPONENT = 1.0;
    private static final int PERIOD = 1 << 16;
    private static final long SEED = 42;

    private final int[] tables = new int[PERIOD];
    private final int[] queries = new int[PERIOD];

    /** @param queriesOfTable per table the ordinals of its queries, at least one */
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

    /** The table of search {@code number}. The stream repeats after 65,536 searches. */
    int table(long number) {
        return tables[(int) (number % PERIOD)];
    }

    /** The query of search {@code number}. */
    int query(long number) {
        return queries[(int) (number % PERIOD)];
    }
}
