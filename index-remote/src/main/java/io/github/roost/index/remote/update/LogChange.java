package io.github.roost.index.remote.update;

import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogTails;

/**
 * A record to be written.
 *
 * @param partition of the log
 * @param kind of the change
 * @param id of the row
 * @param vector of the row; empty for {@link LogRecord.Kind#REMOVE}
 * @param movedTo for a removal because the row has moved: its new partition; else -1
 */
record LogChange(int partition, LogRecord.Kind kind, long id, float[] vector, int movedTo) {
    private static final float[] NO_VECTOR = {};
    private static final int NOWHERE = -1;

    static LogChange row(int partition, LogRecord.Kind kind, long id, float[] vector) {
        return new LogChange(partition, kind, id, vector, NOWHERE);
    }

    static LogChange remove(int partition, long id) {
        return moved(partition, id, NOWHERE);
    }

    /** Removes a row that another partition has now. */
    static LogChange moved(int partition, long id, int to) {
        return new LogChange(partition, LogRecord.Kind.REMOVE, id, NO_VECTOR, to);
    }

    /**
     * The current place of a moved row, valid while the lease is held.
     *
     * @param pair the pair being appended to
     * @param pairsTails its tails as they will be after the preceding records
     */
    LogRecord.Moved moved(KnownPool now, int pair, LogTails pairsTails) {
        if (movedTo < 0) {
            return LogRecord.Moved.NOWHERE;
        }
        LogTails tails = movedTo / 2 == pair ? pairsTails : now.tails[movedTo / 2];
        return new LogRecord.Moved(
                movedTo, now.directory.partitions().get(movedTo).generation(), tails.of(movedTo));
    }
}
