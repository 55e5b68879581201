package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.NearestRows;
import java.util.Arrays;

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
        NearestRows.sortTies(sortedIds, sortedDistances, ordered);
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
        int kept = NearestRows.distinct(all.ids(), all.distances(), all.size(), limit);
        return new SearchResult(Arrays.copyOf(all.ids(), kept), Arrays.copyOf(all.distances(), kept));
    }
}
