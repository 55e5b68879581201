package io.github.roost.index.ivf.kernel;

import io.github.roost.vector.kernel.FloatOrder;
import java.util.Arrays;

/** Sorts distances by distinct keys, so that ties stay in row order. */
final class DistanceOrder {
    private static final int FEW = 24;

    private DistanceOrder() {}

    /** {@link ScanKernel#order} of all rows. */
    static int order(float[] distances, int count, int[] order) {
        long[] keys = sortedKeys(distances, count);
        for (int i = 0; i < count; i++) {
            order[i] = (int) keys[i];
        }
        return count;
    }

    /** The argument check of every kernel. */
    static void requireFits(float[] distances, int count, int wanted, int[] order) {
        if (count < 0 || count > distances.length || count > order.length || wanted < 1) {
            throw new IllegalArgumentException("cannot order the " + wanted + " nearest of " + count + " rows of "
                    + distances.length + " distances in room for " + order.length);
        }
    }

    /**
     * Sorted keys: the distance, as {@link #sortable}, in the high half, the row's number in the low. Distances are
     * distributed over as many even buckets as there are distances, after which an insertion sort has little to do; few
     * distances, or distances that crowd in a bucket, are sorted directly.
     */
    private static long[] sortedKeys(float[] distances, int count) {
        float min = Float.POSITIVE_INFINITY;
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            min = Math.min(min, distances[i]);
            max = Math.max(max, distances[i]);
        }
        float scale = (count - 1) / (max - min);
        int[] ends = new int[count + 1];
        boolean dealt =
                count > FEW && scale > 0 && scale < Float.POSITIVE_INFINITY && deal(distances, count, min, scale, ends);
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            int at = dealt ? ends[bucket(distances[i], min, scale, count)]++ : i;
            keys[at] = ((long) sortable(distances[i]) << 32) | i;
        }
        if (dealt) {
            insertionSort(keys);
        } else {
            Arrays.sort(keys);
        }
        return keys;
    }

    /** Finds where each bucket begins; false if one has so many rows that a plain sort is faster. */
    private static boolean deal(float[] distances, int count, float min, float scale, int[] begins) {
        for (int i = 0; i < count; i++) {
            begins[bucket(distances[i], min, scale, count) + 1]++;
        }
        int max = 0;
        for (int i = 1; i <= count; i++) {
            max = Math.max(max, begins[i]);
            begins[i] += begins[i - 1];
        }
        return max <= FEW;
    }

    /** Monotonic in the distance in spite of rounding. */
    private static int bucket(float distance, float min, float scale, int count) {
        return Math.min(count - 1, (int) ((distance - min) * scale));
    }

    /** Fast if nothing is far from its place. */
    private static void insertionSort(long[] keys) {
        for (int i = 1; i < keys.length; i++) {
            long key = keys[i];
            int at = i;
            while (at > 0 && keys[at - 1] > key) {
                keys[at] = keys[at - 1];
                at--;
            }
            keys[at] = key;
        }
    }

    /** Has the order of distances; both zeros are equal. */
    private static int sortable(float distance) {
        return FloatOrder.key(distance + 0f);
    }
}
