package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.Smallest;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.agrona.collections.LongHashSet;

/** Puts found rows in the order of {@link Neighbors}: by distance, ties by ascending id. */
final class NearestFirst {
    private NearestFirst() {}

    /** The first {@code limit} of the rows. */
    static Neighbors of(long[] ids, float[] distances, int limit) {
        long[] keys = keysUpTo(farthest(distances, limit), distances);
        Arrays.sort(keys);
        long[] sortedIds = new long[keys.length];
        float[] sortedDistances = new float[keys.length];
        for (int i = 0; i < keys.length; i++) {
            sortedIds[i] = ids[(int) keys[i]];
            sortedDistances[i] = distances[(int) keys[i]];
        }
        sortTies(sortedIds, sortedDistances);
        int count = Math.min(limit, keys.length);
        return new Neighbors(Arrays.copyOf(sortedIds, count), Arrays.copyOf(sortedDistances, count));
    }

    /** The distance of the last row of the answer, so that only what may be in it is sorted. */
    private static float farthest(float[] distances, int limit) {
        return distances.length <= limit
                ? Float.POSITIVE_INFINITY
                : Smallest.nth(distances, distances.length, limit - 1);
    }

    private static long[] keysUpTo(float farthest, float[] distances) {
        long[] keys = new long[distances.length];
        int count = 0;
        for (int i = 0; i < distances.length; i++) {
            keys[count] = ((long) sortable(distances[i]) << 32) | i;
            count += distances[i] <= farthest ? 1 : 0;
        }
        return Arrays.copyOf(keys, count);
    }

    /** {@link #of} where an id may be there more than once: the nearest of each. */
    static Neighbors distinct(long[] ids, float[] distances, int limit) {
        Neighbors all = of(ids, distances, ids.length);
        LongHashSet seen = new LongHashSet();
        int[] first = IntStream.range(0, all.size())
                .filter(i -> seen.add(all.ids()[i]))
                .limit(limit)
                .toArray();
        long[] distinctIds = new long[first.length];
        float[] distinctDistances = new float[first.length];
        for (int i = 0; i < first.length; i++) {
            distinctIds[i] = all.ids()[first[i]];
            distinctDistances[i] = all.distances()[first[i]];
        }
        return new Neighbors(distinctIds, distinctDistances);
    }

    private static void sortTies(long[] ids, float[] distances) {
        for (int from = 0; from < ids.length; ) {
            int to = from + 1;
            while (to < ids.length && distances[to] == distances[from]) {
                to++;
            }
            if (to - from > 1) {
                Arrays.sort(ids, from, to);
            }
            from = to;
        }
    }

    /** Bits whose signed order is the floats' order; both zeros become one, as they are equal distances. */
    private static int sortable(float distance) {
        int bits = Float.floatToIntBits(distance + 0f);
        return bits < 0 ? bits ^ Integer.MAX_VALUE : bits;
    }
}
