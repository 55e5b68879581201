package io.github.roost.bench;

import io.github.roost.vector.SearchResult;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Recall@k: the share of the true nearest neighbors that were found, over all queries, from 0 to 1. Stateless. See
 * {@link DistanceRecall} for data with many equal distances.
 */
public final class Recall {
    private Recall() {}

    /**
     * The standard definition: how many of the k true ids are among the k found ids. If several vectors tie at the
     * distance of the k-th, only the one named by the truth counts.
     *
     * @param truth one row of true ids per query, each of at least k
     * @param found one result per query; only its first k hits count
     */
    public static double byId(int[][] truth, SearchResult[] found, int k) {
        checkCounts(truth.length, found.length);
        long hits = 0;
        for (int query = 0; query < truth.length; query++) {
            Set<Long> ids =
                    IntStream.of(truth[query]).limit(k).asLongStream().boxed().collect(Collectors.toSet());
            for (int i = 0; i < Math.min(k, found[query].size()); i++) {
                hits += ids.remove(found[query].ids()[i]) ? 1 : 0;
            }
        }
        return (double) hits / ((long) k * truth.length);
    }

    private static void checkCounts(int truth, int found) {
        if (truth != found || truth == 0) {
            throw new IllegalArgumentException(
                    "truth and found must have the same number of queries, at least one, got " + truth + " and "
                            + found);
        }
    }
}
