package io.github.roost.index.remote.search;

import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.NearestRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The results of a query's visits to its partitions. Each partition is read at a different moment, so a row that moves from one to another
 * meanwhile may be in neither: then its new partition is {@linkplain #outdated visited again}. Used by one thread at a time.
 *
 * <p>Why no row is missed: a row that moves is inserted at its new place before it is removed from the old one. A search that misses it has read
 * the new place before the insertion and the old place after the removal. So at the old place it has read the record of the removal, which says
 * how long the log at the new place was by then: longer than the search has seen it. That record is present unless the old place was rebuilt
 * since; then the old place was read by a directory of a later epoch than the new place. If both were read by one directory, that directory
 * existed before the words of the new place were read, so it is older than the move.
 */
final class VisitedPartitions {
    /** The latest result by partition, in the order of first visits. */
    private final Map<Integer, @Nullable PartitionResult> results = new LinkedHashMap<>();

    /** Records the result of a visit. */
    void put(int partition, @Nullable PartitionResult result) {
        results.put(partition, result);
    }

    /** Number of partitions. */
    int count() {
        return results.size();
    }

    /**
     * The partitions to visit next.
     *
     * @param order partitions, nearest first
     * @param count maximum number of them
     */
    int[] others(int[] order, int count) {
        return Arrays.stream(order)
                .filter(partition -> !results.containsKey(partition))
                .limit(count)
                .toArray();
    }

    /** The partitions to be visited again, because a row may have moved there after the visit. */
    int[] outdated() {
        Map<Integer, PartitionResult.Seen> seen = new HashMap<>();
        long latest = 0;
        for (PartitionResult one : results.values()) {
            if (one != null && one.seen() != null) {
                seen.put(one.seen().partition(), one.seen());
                latest = Math.max(latest, one.seen().epoch());
            }
        }
        Set<Integer> again = new TreeSet<>();
        for (PartitionResult.Seen one : seen.values()) {
            if (one.epoch() < latest) {
                again.add(one.partition());
            }
            for (LogRecord.Moved row : one.log().moves()) {
                PartitionResult.Seen target = seen.get(row.partition());
                if (target != null && target.isBefore(row)) {
                    again.add(row.partition());
                }
            }
        }
        return again.stream().mapToInt(partition -> partition).toArray();
    }

    /**
     * Merges the results into one. A row that is in two partitions counts once.
     *
     * @param k maximum number of rows
     * @param radius maximum distance
     * @param mayLackRows whether the result may lack rows for a reason other than missing partitions: the visit limit ended the visits, or rows
     *     kept moving
     */
    SearchResult merge(int k, float radius, boolean mayLackRows) {
        List<SearchResult> found = new ArrayList<>(results.size());
        int missing = 0;
        int total = 0;
        for (PartitionResult one : results.values()) {
            if (one == null || one.seen() == null) {
                missing++;
            }
            SearchResult result = one == null ? null : one.result();
            if (result != null) {
                found.add(result);
                total += result.size();
            }
        }
        SearchResult merged = SearchResult.merge(found, total);
        int size = NearestRows.distinct(merged.ids(), merged.distances(), merged.size(), k);
        return new SearchResult(Arrays.copyOf(merged.ids(), size), Arrays.copyOf(merged.distances(), size))
                .within(radius)
                .with(
                        merged.cost().plus(new SearchCost(0, 0, 0, 0, results.size(), missing)),
                        merged.cutShort() || mayLackRows || missing > 0);
    }
}
