package io.github.roost.index.remote;

import java.util.ArrayList;
import java.util.List;

/**
 * What a writer knows of a pool. It holds as long as it has the lease, and while nobody else has had it. Used by one thread at a time.
 */
final class KnownPool {
    Directory directory;
    final RowPlaces places;
    final LogTails[] tails;
    /** Records of each log. */
    final int[] records;
    /** Rows that lost writers have left twice, and that could not be taken out because the log is full: the pair is to be built anew first. */
    final List<LogChange> leftOver = new ArrayList<>();

    long rows;

    KnownPool(Directory directory, RowPlaces places) {
        this.directory = directory;
        this.places = places;
        this.tails = new LogTails[directory.gaps().size()];
        this.records = new int[directory.partitions().size()];
    }
}
