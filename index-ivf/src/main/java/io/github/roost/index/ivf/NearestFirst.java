package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.agrona.collections.LongHashSet;

/** Puts found rows in the order of {@link Neighbors}: by distance, ties by ascending id. */
final class NearestFirst {
    private static final int FEW = 24;

    private NearestFirst() {}

    /** The nearest {@code limit} of the first {@code rows}. */
    static Neighbors of(long[] ids, float[] distances, int rows, int limit) {
        long[] keys = sortedKeys(distances, rows);
        long[] sortedIds = new long[keys.length];
        float[] sortedDistances = new float[keys.length];
        for (int i = 0; i < keys.length; i++) {
            sortedIds[i] = ids[(int) keys[i]];
            sortedDistances[i] = distances[(int) keys[i]];
        }
        sortTies(sortedIds, sortedDistances);
        return limit >= rows
                ? new Neighbors(sortedIds, sortedDistances)
                : new Neighbors(Arrays.copyOf(sortedIds, limit), Arrays.copyOf(sortedDistances, limit));
    }

    /** Moves the rows within a radius to the front, in their order; how many. One whose distance is no number is not. */
    static int keepWithin(float radius, long[] ids, float[] distances) {
        int kept = 0;
        for (int i = 0; i < ids.length; i++) {
            ids[kept] = ids[i];
            distances[kept] = distances[i];
            kept += distances[i] <= radius ? 1 : 0;
        }
        return kept;
    }

    /**
     * Distances, as {@link #sortable}, each above the number of its row, in order. Distances are dealt to as many even buckets
     * as there are of them, in which little is left to sort; unless they are few, or crowd in some bucket.
     */
    private static long[] sortedKeys(float[] distances, int count) {
        float least = Float.POSITIVE_INFINITY;
        float greatest = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            least = Math.min(least, distances[i]);
            greatest = Math.max(greatest, distances[i]);
        }
        float scale = (count - 1) / (greatest - least);
        int[] ends = new int[count + 1];
        boolean dealt = count > FEW
                && scale > 0
                && scale < Float.POSITIVE_INFINITY
                && deal(distances, count, least, scale, ends);
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) {
            int at = dealt ? ends[bucket(distances[i], least, scale, count)]++ : i;
            keys[at] = ((long) sortable(distances[i]) << 32) | i;
        }
        if (dealt) {
            insertionSort(keys);
        } else {
            Arrays.sort(keys);
        }
        return keys;
    }

    /** Finds where each bucket's rows begin; false if one has so many that they are better sorted otherwise. */
    private static boolean deal(float[] distances, int count, float least, float scale, int[] begins) {
        for (int i = 0; i < count; i++) {
            begins[bucket(distances[i], least, scale, count) + 1]++;
        }
        int most = 0;
        for (int i = 1; i <= count; i++) {
            most = Math.max(most, begins[i]);
            begins[i] += begins[i - 1];
        }
        return most <= FEW;
    }

    /** Never falls as the distance rises, however floats round. */
    private static int bucket(float distance, float least, float scale, int count) {
        return Math.min(count - 1, (int) ((distance - least) * scale));
    }

    /** Fast where nothing is far from its place. */
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

    /** {@link #of} where an id may be there more than once: the nearest of each. */
    static Neighbors distinct(long[] ids, float[] distances, int rows, int limit) {
        Neighbors all = of(ids, distances, rows, rows);
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
