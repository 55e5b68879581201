package io.github.roost.bench;

import io.github.roost.vector.SearchResult;
import java.util.concurrent.atomic.LongAdder;

/**
 * Recall@k by distance, counted while searches run: the share of found neighbors that are no farther than the k-th
 * true one. For data with many equal distances (small integers), where any vector at the k-th distance is as correct as
 * the one that a list of true ids names. Thread-safe.
 */
public final class DistanceRecall {
    /** Relative tolerance for the rounding differences of two float summations of the same squares. */
    private static final double ROUNDING = 1e-5;

    private final LongAdder hits = new LongAdder();
    private final LongAdder wanted = new LongAdder();

    /**
     * Counts one result.
     *
     * @param truth the true neighbors, nearest first; their number is k
     * @param found the found neighbors, with distinct ids; only the first k count
     */
    public void add(SearchResult truth, SearchResult found) {
        int k = truth.size();
        if (k == 0) {
            return;
        }
        float farthest = truth.distances()[k - 1];
        double reach = farthest + Math.abs(farthest) * ROUNDING;
        int right = 0;
        for (int i = 0; i < Math.min(k, found.size()); i++) {
            right += found.distances()[i] <= reach ? 1 : 0;
        }
        hits.add(right);
        wanted.add(k);
    }

    /** The recall so far, from 0 to 1; 1 if no neighbors were wanted. */
    public double share() {
        long all = wanted.sum();
        return all == 0 ? 1 : (double) hits.sum() / all;
    }
}
