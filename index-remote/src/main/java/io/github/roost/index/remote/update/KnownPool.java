package io.github.roost.index.remote.update;

import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.RowCount;
import java.util.ArrayList;
import java.util.List;

/**
 * A writer's copy of a pool's state. Valid while the writer has the lease, and afterwards until another writer takes it. Used by one thread at a
 * time.
 */
final class KnownPool {
    Directory directory;
    final PartitionsOfRows places;
    final LogTails[] tails;
    /** Number of records in each log. */
    final int[] records;
    /** Removals of rows that lost writers have left twice and that do not fit into the full log: the pair must be rebuilt first. */
    final List<LogChange> leftOver = new ArrayList<>();

    RowCount rows = new RowCount(0, 0);

    KnownPool(Directory directory, PartitionsOfRows places) {
        this.directory = directory;
        this.places = places;
        this.tails = new LogTails[directory.gaps().size()];
        this.records = new int[directory.partitions().size()];
    }
}
