package io.github.roost.index.remote;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The results of a query's visits to its partitions. Each partition is read at a different moment, so a row that moves from one to another
 * meanwhile may be in neither: then its new partition is {@linkplain #tooEarly visited again}. Used by one thread at a time.
 *
 * <p>Why no row is missed: a row that moves is inserted at its new place before it is removed from the old one. A search that misses it has read
 * the new place before the insertion and the old place after the removal. So at the old place it has read the record of the removal, which says
 * how long the log at the new place was by then: longer than the search has seen it. That record is present unless the old place was rebuilt
 * since; then the old place was read by a directory of a later epoch than the new place. If both were read by one directory, that directory
 * existed before the words of the new place were read, so it is older than the move.
 */
final class Visits {
    private final int[] partitions;
    private final @Nullable PartitionResult[] found;

    /** Starts without results. */
    Visits(int[] partitions) {
        this.partitions = partitions;
        this.found = new PartitionResult[partitions.length];
    }

    /** Records the result of a visit. */
    void put(int partition, @Nullable PartitionResult what) {
        for (int i = 0; i < partitions.length; i++) {
            if (partitions[i] == partition) {
                found[i] = what;
            }
        }
    }

    /** One result per partition, in their order; null if a partition was not searched. */
    List<@Nullable PartitionResult> found() {
        return new ArrayList<>(Arrays.asList(found));
    }

    /** The partitions to be visited again, because a row may have moved there after the visit. */
    int[] tooEarly() {
        Map<Integer, PartitionResult.Seen> seen = new HashMap<>();
        long latest = 0;
        for (PartitionResult one : found) {
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
                PartitionResult.Seen there = seen.get(row.partition());
                if (there != null && there.isBefore(row)) {
                    again.add(row.partition());
                }
            }
        }
        return again.stream().mapToInt(partition -> partition).toArray();
    }
}
