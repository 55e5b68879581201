package io.github.roost.index.hnsw;

import io.github.roost.index.hnsw.graph.GraphVisit;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a live table: the parts with a graph, then the parts without, older ones first. One thread at a time replaces them; {@link
 * #find} explains why concurrent searches miss no row. Thread-safe.
 */
final class LiveParts extends TableSearch {
    private volatile List<LiveRows> parts = List.of();

    List<LiveRows> all() {
        return parts;
    }

    void replace(List<LiveRows> next) {
        parts = next;
    }

    @Override
    float @Nullable [] vector(int row) {
        int left = row;
        for (LiveRows part : parts) {
            int count = part.count();
            if (left < count) {
                return part.isAlive(left) ? part.vector(left) : null;
            }
            left -= count;
        }
        return null;
    }

    @Override
    int rows() {
        return parts.stream().mapToInt(LiveRows::count).sum();
    }

    @Override
    SearchResult exact(float[] query, int k, GraphVisit visit) {
        return NewestOfEach.merge(
                parts.stream().map(part -> part.exact(query, k, visit)).toList(), k);
    }

    /**
     * Searches all parts. A replaced row is removed only after its successor has been added. So a search that skips a removed row finds
     * the successor if it afterwards searches all rows added meanwhile, in any part; it repeats this until no row has been
     * added. If the parts already searched are still the first of the list, all rows not yet searched are at the ends of these parts,
     * or in parts after them, and the search continues there. Otherwise rows already searched may have been moved to another
     * part, and the search starts over; this is rare, once in {@code mergeAfter} changes. A search that sees several rows of one id,
     * because one replaces another, searches again for more rows until it has k ids.
     */
    @SuppressWarnings("ReferenceEquality") // tests whether parts is still the same list object
    @Override
    SearchResult find(float[] query, int k, int ef, IdFilter filter, GraphVisit visit) {
        List<SearchResult> found = new ArrayList<>();
        List<LiveRows> searched = List.of();
        // The number of rows searched so far in each part.
        int[] rows = {};
        for (int wanted = k; true; visit.requireWanted()) {
            List<LiveRows> all = parts;
            if (!beginsWith(all, searched)) {
                found.clear();
                rows = new int[0];
            }
            rows = Arrays.copyOf(rows, all.size());
            searched = all;
            for (int i = 0; i < rows.length; i++) {
                LiveRows part = all.get(i);
                if (rows[i] < part.count()) {
                    if (!found.isEmpty()) {
                        visit.requireWanted();
                    }
                    rows[i] = part.search(query, wanted, Math.max(ef, wanted), filter, rows[i], visit, found);
                }
            }
            if (all == parts && isUpTo(all, rows)) {
                SearchResult merged = NewestOfEach.merge(found, k);
                int maxRows = all.stream().mapToInt(LiveRows::count).max().orElse(0);
                if (visit.isCutShort() || !NewestOfEach.isShort(merged, found, k, wanted, maxRows)) {
                    return merged;
                }
                wanted = (int) Math.min(2L * wanted, maxRows);
                found.clear();
                rows = new int[0];
            }
        }
    }

    /** Whether all rows of the parts have been searched. */
    private static boolean isUpTo(List<LiveRows> all, int[] rows) {
        for (int i = 0; i < rows.length; i++) {
            if (all.get(i).count() > rows[i]) {
                return false;
            }
        }
        return true;
    }

    private static boolean beginsWith(List<LiveRows> all, List<LiveRows> first) {
        return first.size() <= all.size() && all.subList(0, first.size()).equals(first);
    }
}
