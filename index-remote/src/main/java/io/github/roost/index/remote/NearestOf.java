package io.github.roost.index.remote;

import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.spi.NearestRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Merges the results of a query's partitions into one answer. A pure function. */
final class NearestOf {
    private NearestOf() {}

    /**
     * Returns the nearest rows of several partitions. A row that is in two of them counts once.
     *
     * @param found one per partition; null, or without {@code seen}, if the partition could not be read
     * @param k maximum number of rows
     * @param radius maximum distance
     * @param fewer whether the answer may lack rows for another reason: fewer partitions visited than asked for, or rows that kept moving
     */
    static SearchResult of(List<? extends @Nullable PartitionResult> found, int k, float radius, boolean fewer) {
        List<SearchResult> results = new ArrayList<>(found.size());
        int missing = 0;
        int total = 0;
        for (PartitionResult one : found) {
            if (one == null || one.seen() == null) {
                missing++;
            }
            SearchResult result = one == null ? null : one.result();
            if (result != null) {
                results.add(result);
                total += result.size();
            }
        }
        SearchResult merged = SearchResult.merge(results, total);
        int size = NearestRows.distinct(merged.ids(), merged.distances(), merged.size(), k);
        return new SearchResult(Arrays.copyOf(merged.ids(), size), Arrays.copyOf(merged.distances(), size))
                .within(radius)
                .with(
                        merged.cost().plus(new SearchCost(0, 0, 0, 0, found.size(), missing)),
                        merged.cutShort() || fewer || missing > 0);
    }
}
