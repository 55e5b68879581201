package io.github.roost.index.remote.update;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.cache.CachedPartition;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.PartitionLog;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A partition as read by a writer: by one read, bypassing the cache, verified. Valid until the next read into its memory.
 *
 * @param graph its rows, or null if it was built without rows
 * @param log the changes since
 */
record WholePartition(@Nullable Graph graph, PartitionLog log) {
    /** Receives rows. */
    interface Rows {
        /**
         * Receives a row.
         *
         * @param token of the record that inserted it, 0 if it is a row of the graph
         */
        void row(long id, long token);
    }

    /** Memory large enough for any partition of a directory with its gap. */
    static MemorySegment roomFor(Directory directory) {
        long max = 0;
        for (int partition = 0; partition < directory.partitions().size(); partition++) {
            max = Math.max(
                    max,
                    directory.partitions().get(partition).bytes()
                            + directory.gapOf(partition).bytes());
        }
        // Freed by the garbage collector: a read that has timed out may still write to it.
        return Arena.ofAuto().allocate(max, 64);
    }

    static WholePartition read(OpenPool pool, Directory directory, int partition, int tail, MemorySegment into)
            throws RemoteMemoryException {
        CachedPartition bytes = CachedPartition.in(into, directory, partition);
        pool.await(pool.region().get(List.of(bytes.read(tail, pool.head().recordBytes()))));
        bytes.verify(pool.region().name(), pool.head(), 0, Integer.MAX_VALUE);
        return new WholePartition(
                bytes.graph(), bytes.log(pool.region().name(), tail, pool.head().dimension()));
    }

    void forEach(Rows rows) {
        if (graph != null) {
            for (int row = 0; row < graph.rows(); row++) {
                long id = graph.id(row);
                if (!log.hides(id)) {
                    rows.row(id, 0);
                }
            }
        }
        for (LogRecord row : log.rows()) {
            rows.row(row.id(), row.token());
        }
    }
}
