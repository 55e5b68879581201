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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first steps of a writer that takes over the lease from a lost writer: fences it off, and gives up the space that it was filling. Used by
 * one thread at a time.
 */
final class WriterTakeover {
    private static final int PAIRS_PER_RENEWAL = 128;

    private static final Logger LOG = LoggerFactory.getLogger(WriterTakeover.class);

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
        long word = pool.settled(PoolHead.RESERVATION_AT);
        if (word == 0) {
            return;
        }
        SpaceReservation filling = SpaceReservation.of(word);
        long directoryAt = pool.root().directoryAt();
        if (directoryAt < filling.at() || directoryAt >= filling.end()) {
            if (!joins(filling) && !isNoted(word)) {
                // Named as being filled for ever: other changes go on, and a rebuild is refused.
                LOG.warn(
                        "{} has lost space to writers in {} places",
                        pool.region().name(),
                        PoolHead.MAX_LOST);
                return;
            }
        }
        pool.compareAndSet(PoolHead.RESERVATION_AT, word, 0);
    }

    /** Whether the space is part of lost space now that it overlaps or continues: a writer lost again and again takes one word, not one each time. */
    private boolean joins(SpaceReservation filling) throws RemoteMemoryException {
        for (int i = 0; i < PoolHead.MAX_LOST; i++) {
            long lost = pool.settled(lostAt(i));
            if (lost != 0 && SpaceReservation.of(lost).touches(filling)) {
                long joined = SpaceReservation.of(lost).joined(filling).word();
                if (joined == lost || pool.compareAndSet(lostAt(i), lost, joined) == lost) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isNoted(long word) throws RemoteMemoryException {
        boolean noted = false;
        for (int i = 0; i < PoolHead.MAX_LOST && !noted; i++) {
            noted = pool.compareAndSet(lostAt(i), 0, word) == 0;
        }
        return noted;
    }

    private static long lostAt(int number) {
        return PoolHead.LOST_AT + (long) number * Long.BYTES;
    }
}
