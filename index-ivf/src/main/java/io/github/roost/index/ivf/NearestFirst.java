package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.SearchResult;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.agrona.collections.LongHashSet;

/** Puts found rows in the order of {@link SearchResult}: by distance, ties by ascending id. */
final class NearestFirst {
    private NearestFirst() {}

    /** The nearest {@code limit} of the first {@code rows}. */
    static SearchResult of(ScanKernel kernel, long[] ids, float[] distances, int rows, int limit) {
        if (rows == 0) {
            return SearchResult.EMPTY;
        }
        int[] order = new int[rows];
        int ordered = kernel.order(distances, rows, limit, order);
        long[] sortedIds = new long[ordered];
        float[] sortedDistances = new float[ordered];
        for (int i = 0; i < ordered; i++) {
            sortedIds[i] = ids[order[i]];
            sortedDistances[i] = distances[order[i]];
        }
        sortTies(sortedIds, sortedDistances);
        return limit >= ordered
                ? new SearchResult(sortedIds, sortedDistances)
                : new SearchResult(Arrays.copyOf(sortedIds, limit), Arrays.copyOf(sortedDistances, limit));
    }

    /** Moves the rows within a radius to the front, in their order, and returns their number. NaN is not within it. */
    static int keepWithin(float radius, long[] ids, float[] distances) {
        int kept = 0;
        for (int i = 0; i < ids.length; i++) {
            ids[kept] = ids[i];
            distances[kept] = distances[i];
            kept += distances[i] <= radius ? 1 : 0;
        }
        return kept;
    }

    /** {@link #of} for rows in which an id may occur more than once: keeps the nearest row per id. */
    static SearchResult distinct(ScanKernel kernel, long[] ids, float[] distances, int rows, int limit) {
        SearchResult all = of(kernel, ids, distances, rows, rows);
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
        return new SearchResult(distinctIds, distinctDistances);
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
}
