package io.github.roost.index.remote;

/**
 * One record to be written.
 *
 * @param partition in whose log
 * @param kind what it does
 * @param id of the row
 * @param vector of it; empty for {@link LogRecord.Kind#REMOVE}
 * @param movedTo the partition that has the row instead, where it is taken out because of that; else -1
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

    /** Takes a row out that another partition has by now. */
    static LogChange moved(int partition, long id, int to) {
        return new LogChange(partition, LogRecord.Kind.REMOVE, id, NO_VECTOR, to);
    }

    /** The partition that has the row by now, as it is while the lease is held; its pair's tails may be about to move. */
    LogRecord.Moved moved(KnownPool now, int pair, LogTails pairsTails) {
        if (movedTo < 0) {
            return LogRecord.Moved.NOWHERE;
        }
        LogTails tails = movedTo / 2 == pair ? pairsTails : now.tails[movedTo / 2];
        return new LogRecord.Moved(
                movedTo, now.directory.partitions().get(movedTo).generation(), tails.of(movedTo));
    }
}
