package io.github.roost.index.remote;

import io.github.roost.core.vector.SearchResult;
import org.jspecify.annotations.Nullable;

/**
 * What a partition has for a query.
 *
 * @param result the nearest rows of it; null where there are no bytes of it
 * @param seen how the partition was when it was searched; null where that could not be asked, so that the result is of what was in the
 *     cache
 */
record Found(@Nullable SearchResult result, @Nullable Seen seen) {
    static final Found MISSING = new Found(null, null);

    /**
     * A partition as it was at one moment.
     *
     * @param partition its number
     * @param epoch of the directory that it was read by
     * @param generation of the partition in that epoch
     * @param tail slots of its log that counted
     * @param log what they say
     */
    record Seen(int partition, long epoch, int generation, int tail, PartitionLog log) {
        static Seen of(int partition, Directory directory, int tail, PartitionLog log) {
            return new Seen(
                    partition,
                    directory.epoch(),
                    directory.partitions().get(partition).generation(),
                    tail,
                    log);
        }

        /** Whether this was seen before a row came here. */
        boolean isBefore(LogRecord.Moved row) {
            // Generations are 16 bits and go round.
            short newer = (short) (row.generation() - generation);
            return newer > 0 || (newer == 0 && row.tail() > tail);
        }
    }
}
