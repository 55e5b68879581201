package io.github.roost.index.remote.search;

import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.PartitionLog;
import io.github.roost.vector.SearchResult;
import org.jspecify.annotations.Nullable;

/**
 * The result of a query in one partition.
 *
 * @param result the nearest rows; null if no bytes of the partition are available
 * @param seen state of the partition when it was searched; null if it could not be read, so that the result is from cached bytes only
 */
record PartitionResult(
        @Nullable SearchResult result, @Nullable Seen seen) {
    static final PartitionResult MISSING = new PartitionResult(null, null);

    /**
     * The state of a partition at one moment.
     *
     * @param partition its number
     * @param epoch of the directory that was used
     * @param generation of the partition in that epoch
     * @param tail slots of the log that were searched
     * @param log content of these slots
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

        /** Whether this state was read before a row moved here. */
        boolean isBefore(LogRecord.Moved row) {
            // Generations are 16 bits and wrap around.
            short newer = (short) (row.generation() - generation);
            return newer > 0 || (newer == 0 && row.tail() > tail);
        }
    }
}
