package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.LogSlots;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.index.remote.format.SpaceReservation;
import io.github.roost.index.remote.pool.OpenPool;

/**
 * The first steps of a writer that takes over the lease from a lost writer: fences it off, and gives up the space that it was filling. Used by
 * one thread at a time.
 */
final class WriterTakeover {
    private static final int PAIRS_PER_RENEWAL = 128;

    private final OpenPool pool;
    private final WriterLease lease;

    WriterTakeover(OpenPool pool, WriterLease lease) {
        this.pool = pool;
        this.lease = lease;
    }

    /** Changes the root's fence: after this no compare-and-set of an earlier writer begins an epoch. */
    void fenceOffRoot() throws RemoteMemoryException {
        pool.replace(PoolHead.ROOT_AT, word -> EpochRoot.of(word).fenced().word());
    }

    /** Changes the fence of the number of rows: after this no compare-and-set of an earlier writer changes it. */
    void fenceOffRowCount() throws RemoteMemoryException {
        pool.replace(PoolHead.ROWS_AT, word -> RowCount.of(word).fenced().word());
    }

    /**
     * Changes the fence of all pairs: after this no compare-and-set of an earlier writer changes a log or allocates slots. First the tails, so that
     * the slots that are beyond them when the slots' fence changes are never published.
     */
    void fenceOffLogs(Directory directory) throws RemoteMemoryException {
        for (int pair = 0; pair < directory.gaps().size(); pair++) {
            int generation = directory.partitions().get(2 * pair).generation();
            LogTails tails = LogTails.of(pool.replace(
                    PoolHead.tailsAt(pair, generation),
                    word -> LogTails.of(word).fenced().word()));
            pool.replace(
                    PoolHead.slotsAt(pair, generation),
                    word -> LogSlots.of(word).fenced(tails).word());
            if (pair % PAIRS_PER_RENEWAL == PAIRS_PER_RENEWAL - 1) {
                lease.renew();
            }
        }
    }

    /** Marks the space that a lost writer was filling as never to be used again, unless its epoch has begun. */
    void abandonReservation() throws RemoteMemoryException {
        long word = pool.word(PoolHead.RESERVATION_AT);
        if (word == 0) {
            return;
        }
        SpaceReservation filling = SpaceReservation.of(word);
        long directoryAt = pool.root().directoryAt();
        if (directoryAt < filling.at() || directoryAt >= filling.end()) {
            boolean noted = false;
            for (int i = 0; i < PoolHead.MAX_LOST && !noted; i++) {
                long found = pool.compareAndSet(lostAt(i), 0, word);
                noted = found == 0 || found == word;
            }
            if (!noted) {
                throw new RemoteMemoryException(
                        pool.region().name(),
                        "has lost space to " + PoolHead.MAX_LOST + " writers: it must be built again");
            }
        }
        pool.compareAndSet(PoolHead.RESERVATION_AT, word, 0);
    }

    private static long lostAt(int number) {
        return PoolHead.LOST_AT + (long) number * Long.BYTES;
    }
}
