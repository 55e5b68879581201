package io.github.roost.index.hnsw;

import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.NearestRows;
import java.util.Arrays;
import java.util.List;

/** Merges the results of a live table's parts, with one row per id. Stateless. */
final class NewestOfEach {
    private NewestOfEach() {}

    /**
     * The k nearest rows, one per id. A search may see several rows of one id while one replaces another: the row from the newest
     * list is kept, and within a list the nearest.
     *
     * @param found results of the parts, older rows first
     */
    static SearchResult merge(List<SearchResult> found, int k) {
        int max = found.stream().mapToInt(SearchResult::size).sum();
        long[] ids = new long[max];
        float[] distances = new float[max];
        int at = 0;
        for (SearchResult part : found.reversed()) {
            System.arraycopy(part.ids(), 0, ids, at, part.size());
            System.arraycopy(part.distances(), 0, distances, at, part.size());
            at += part.size();
        }
        int size = NearestRows.distinct(ids, distances, max, max);
        SearchResult sorted = SearchResult.sorted(Arrays.copyOf(ids, size), Arrays.copyOf(distances, size));
        return size <= k
                ? sorted
                : new SearchResult(Arrays.copyOf(sorted.ids(), k), Arrays.copyOf(sorted.distances(), k));
    }

    /**
     * Whether rows may be missing because several rows of one id filled the lists. A full list is cut off at its last row; if after
     * removing duplicates fewer than k rows are within that distance, rows that were cut off may belong in the answer. Never if
     * {@code wanted} covers every row of every part.
     *
     * @param wanted rows requested from each part, at least k
     * @param maxRows rows of the largest part, deleted ones included
     */
    static boolean isShort(SearchResult merged, List<SearchResult> found, int k, int wanted, int maxRows) {
        return wanted < maxRows
                && found.stream().anyMatch(part -> part.size() >= wanted && hidesNearer(part, merged, k));
    }

    /** Whether rows beyond a part's cut-off may be nearer than the k-th merged row. */
    private static boolean hidesNearer(SearchResult part, SearchResult merged, int k) {
        return merged.size() < k || merged.distances()[k - 1] > part.distances()[part.size() - 1];
    }
}
