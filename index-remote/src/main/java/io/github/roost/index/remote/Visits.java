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
 * What the partitions that a query visits have for it. Each is seen at a moment of its own, and a row that moves from one to another meanwhile
 * may be seen in neither: then the one that it has moved to is {@linkplain #tooEarly visited again}. Used by one thread at a time.
 *
 * <p>Why no row is missed: a row that moves is inserted at its new place before it is taken out at the old one. Who misses it has seen
 * the new place before the one, and the old place after the other. So it has read, at the old place, the record that takes the row out,
 * which says how far the log at the new place went by then: further than it was seen. That record is there unless the old place was
 * built anew since; then the old place was seen by a directory of a later epoch than the new place was. For where both were seen by one
 * directory, that was there before the words of the new place were read, and so is older than the move.
 */
final class Visits {
    private final int[] partitions;
    private final @Nullable Found[] found;

    /** Nothing has been visited yet. */
    Visits(int[] partitions) {
        this.partitions = partitions;
        this.found = new Found[partitions.length];
    }

    /** A partition has been visited. */
    void put(int partition, @Nullable Found what) {
        for (int i = 0; i < partitions.length; i++) {
            if (partitions[i] == partition) {
                found[i] = what;
            }
        }
    }

    /** One per partition, in their order; null where one was not searched. */
    List<@Nullable Found> found() {
        return new ArrayList<>(Arrays.asList(found));
    }

    /** The partitions that have to be visited again: a row may have come since, from one that was seen without it. */
    int[] tooEarly() {
        Map<Integer, Found.Seen> seen = new HashMap<>();
        long latest = 0;
        for (Found one : found) {
            if (one != null && one.seen() != null) {
                seen.put(one.seen().partition(), one.seen());
                latest = Math.max(latest, one.seen().epoch());
            }
        }
        Set<Integer> again = new TreeSet<>();
        for (Found.Seen one : seen.values()) {
            if (one.epoch() < latest) {
                again.add(one.partition());
            }
            for (LogRecord.Moved row : one.log().moves()) {
                Found.Seen there = seen.get(row.partition());
                if (there != null && there.isBefore(row)) {
                    again.add(row.partition());
                }
            }
        }
        return again.stream().mapToInt(partition -> partition).toArray();
    }
}
