package io.github.roost.bench;

import io.github.roost.core.Neighbors;
import java.util.concurrent.atomic.LongAdder;

/**
 * Recall@k by distance, counted while searches run: the share of found neighbours that are no farther than the k-th true
 * one. For data with many equal distances (small integers), where any of the vectors at the k-th distance is as right as
 * the one that a list of true ids happens to name. Thread-safe.
 */
public final class DistanceRecall {
    /** Room for two ways of summing the same squares in floats. */
    private static final double ROUNDING = 1e-5;

    private final LongAdder hits = new LongAdder();
    private final LongAdder wanted = new LongAdder();

    /**
     * Counts one result.
     *
     * @param truth the true neighbours, nearest first; their number is k
     * @param found what was found, of different ids; only the first k count
     */
    public void add(Neighbors truth, Neighbors found) {
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

    /** The share so far, from 0 to 1; 1 when nothing was wanted. */
    public double share() {
        long all = wanted.sum();
        return all == 0 ? 1 : (double) hits.sum() / all;
    }
}
