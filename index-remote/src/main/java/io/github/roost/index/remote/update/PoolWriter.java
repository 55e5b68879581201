package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.LogRecord;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Changes a pool from one process, one change at a time, without the help of the memory's owner. A change is a record in the log of each
 * partition that it affects. Its steps, each one transfer:
 *
 * <ol>
 *   <li>take the {@link WriterLease};
 *   <li>allocate slots by {@link LogSlots}; they are never given to another writer;
 *   <li>write the records into them;
 *   <li>move {@link LogTails} over them, for both logs of a pair at once: from then on readers see the records;
 *   <li>update the number of rows, and give the lease back.
 * </ol>
 *
 * <p>Why a writer that dies at any step loses only unacknowledged changes: before step 4 no reader looks at the records, and later records skip
 * these slots, since each names the slot of its predecessor. Step 4 is one compare-and-set. A row that moves to another pair is inserted there
 * before it is removed from its old place. A writer that dies in between leaves both rows, and the next writer removes the one with the smaller
 * token. If the log has no slot for that, it is removed by the rebuild of that pair, before which no other pair is changed.
 *
 * <p>Why a stopped writer that is considered dead and goes on does no harm: the writer that takes over first changes the
 * {@link LogTails#fenced fence} of every pair. A writer reads the tails and then verifies that it still has the lease, so the tails it expects
 * were read before it was fenced off, and its compare-and-set fails. It can allocate no slots either. The slots that it may still write to are
 * never given to another writer, and their memory gets no other use, see {@link LogSlots}. The root and the number of rows have fences too.
 *
 * <p>A writer knows the partitions of each row id: it reads the whole pool before its first change, and afterwards the logs that other writers
 * have extended. Thread-safe: callers take turns.
 */
public final class PoolWriter implements AutoCloseable {
    private final OpenPool pool;
    private final WriterLease lease;
    private final PoolReading reading;
    private final WriterTakeover takeover;
    private final LogAppend append;
    private final PairPublication publication;
    private final ReentrantLock turn = new ReentrantLock(true);
    /** The known state of the pool; null before the first change, and after a change with unknown outcome. */
    private @Nullable KnownPool known;

    /**
     * Makes a writer that has not read the pool yet.
     *
     * @param patienceNanos how long to wait for other writers, in addition to a term
     * @param nearlyFull called by the changing thread with a pair whose logs should be emptied
     */
    public PoolWriter(OpenPool pool, long patienceNanos, IntConsumer nearlyFull) {
        this.pool = pool;
        this.lease = new WriterLease(pool, patienceNanos);
        this.reading = new PoolReading(pool, lease);
        this.takeover = new WriterTakeover(pool, lease);
        this.append = new LogAppend(pool, lease, nearlyFull);
        this.publication = new PairPublication(pool, lease, reading);
    }

    /** A task that needs the lease. */
    private interface Task<T> {
        T run(KnownPool now) throws RemoteMemoryException;
    }

    /**
     * Inserts or replaces a row.
     *
     * @param vector {@linkplain RowDistance#inSpace in space}
     * @return true if there was no row of this id
     */
    public boolean put(long id, float[] vector) throws RemoteMemoryException {
        int partition = pool.nearest(vector, 1)[0];
        return withLease(now -> {
            requireNoneLeftOver(now);
            int[] before = now.places.of(id);
            List<LogChange> changes = new ArrayList<>();
            boolean replaces = now.places.isIn(id, partition);
            changes.add(LogChange.row(
                    partition, replaces ? LogRecord.Kind.REPLACE : LogRecord.Kind.INSERT, id, vector.clone()));
            for (int other : before) {
                if (other != partition) {
                    changes.add(LogChange.moved(other, id, partition));
                }
            }
            append.write(now, changes);
            now.places.set(id, partition);
            count(now, before.length == 0 ? 1 : 0);
            return before.length == 0;
        });
    }

    /** Removes a row; returns whether there was one. */
    public boolean remove(long id) throws RemoteMemoryException {
        return withLease(now -> {
            requireNoneLeftOver(now);
            int[] before = now.places.of(id);
            List<LogChange> changes = new ArrayList<>();
            for (int partition : before) {
                changes.add(LogChange.remove(partition, id));
            }
            append.write(now, changes);
            now.places.remove(id);
            count(now, before.length == 0 ? 0 : -1);
            return before.length > 0;
        });
    }

    /** Calls {@link PairPublication#publish} with the lease. */
    PairPublication.Published publish(PairPublication.Built built) throws RemoteMemoryException {
        return withLease(now -> {
            if (now.leftOver.stream().noneMatch(row -> row.partition() / 2 == built.pair())) {
                requireNoneLeftOver(now);
            }
            return publication.publish(now, built);
        });
    }

    private <T> T withLease(Task<T> task) throws RemoteMemoryException {
        turn.lock();
        try {
            long requestedNanos = System.nanoTime();
            pool.watch().require(pool.word(PoolHead.HEARTBEAT_AT), requestedNanos, System.nanoTime());
            WriterLease.Grant grant = lease.acquire();
            boolean ended = false;
            try {
                if (grant != WriterLease.Grant.AGAIN) {
                    // If this refuses, nothing was written: only the lease of a lost writer must be left to expire.
                    ended = grant == WriterLease.Grant.FROM_OTHERS;
                    requireNotMirrored();
                    ended = false;
                }
                KnownPool now = upToDate(grant);
                T answer;
                try {
                    answer = task.run(now);
                } catch (PartitionLogFullException refused) {
                    // Nothing was written.
                    ended = now.leftOver.isEmpty();
                    throw refused;
                }
                ended = now.leftOver.isEmpty();
                return answer;
            } finally {
                if (ended) {
                    lease.release();
                } else {
                    // The region's state is unknown and transfers may still be in progress, or rows are stored twice.
                    // The lease is left to expire, so that its next holder, perhaps this writer, fences off those
                    // transfers, reads the pool, and finds these rows.
                    forget();
                }
            }
        } finally {
            turn.unlock();
        }
    }

    /** A mirrored region shows no mark, so this refuses a writer that has opened one node of two. */
    private void requireNotMirrored() throws RemoteMemoryException {
        if (pool.word(PoolHead.MIRROR_AT) != 0) {
            throw new RemoteMemoryException(
                    pool.region().name(),
                    "is mirrored: it is changed together with its other node, or, if that is lost, by"
                            + " RemoteTable.alone");
        }
    }

    private void forget() {
        KnownPool before = known;
        known = null;
        if (before != null) {
            before.places.close();
        }
    }

    /** Frees the known state of the pool after the change in progress. A later change would read the pool again, so there must be none. */
    @Override
    public void close() {
        turn.lock();
        try {
            forget();
        } finally {
            turn.unlock();
        }
    }

    private KnownPool upToDate(WriterLease.Grant grant) throws RemoteMemoryException {
        KnownPool before = known;
        if (before != null && grant == WriterLease.Grant.AGAIN) {
            return before;
        }
        if (grant == WriterLease.Grant.FROM_LOST) {
            takeover.fenceOffRoot();
            takeover.abandonReservation();
        }
        Directory directory = pool.refresh();
        if (grant == WriterLease.Grant.FROM_LOST) {
            takeover.fenceOffLogs(directory);
            takeover.fenceOffRowCount();
        }
        LogTails[] tails = reading.tails(directory);
        // Renewed only now: it proves that the tails were read before any other writer could take over.
        lease.renew();
        if (before != null && grant != WriterLease.Grant.FROM_LOST) {
            return reading.others(before, directory, tails);
        }
        forget();
        KnownPool now = new KnownPool(directory, new PartitionsOfRows());
        // Set before it is filled, so that a failure frees it.
        known = now;
        readAll(now, tails);
        return now;
    }

    private void readAll(KnownPool now, LogTails[] tails) throws RemoteMemoryException {
        reading.all(now, tails);
        Map<Integer, List<LogChange>> byPair = new TreeMap<>();
        for (PartitionsOfRows.Stale row : now.places.gathered()) {
            byPair.computeIfAbsent(row.partition() / 2, pair -> new ArrayList<>())
                    .add(LogChange.moved(row.partition(), row.id(), now.places.of(row.id())[0]));
        }
        for (List<LogChange> ofPair : byPair.values()) {
            try {
                append.write(now, ofPair);
            } catch (PartitionLogFullException full) {
                // The rebuild of the pair removes them.
                now.leftOver.addAll(ofPair);
            }
        }
        count(now, now.places.size() - now.rows.rows());
    }

    /**
     * While a lost writer's row is in two pairs, no pair may change: once its records are gone, the next writer could not tell which row is
     * current.
     */
    private void requireNoneLeftOver(KnownPool now) throws PartitionLogFullException {
        if (!now.leftOver.isEmpty()) {
            throw append.full(now, now.leftOver.getFirst().partition());
        }
    }

    /** Reads the head and the words of all pairs, with no change in progress. */
    MemorySegment wordsAtRest() throws RemoteMemoryException {
        return withLease(now -> {
            MemorySegment words =
                    Arena.ofAuto().allocate(PoolHead.pairsEnd(pool.head().partitions()), 8);
            pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(0, words))));
            return words;
        });
    }

    private void count(KnownPool now, long more) throws RemoteMemoryException {
        if (more != 0) {
            RowCount next = now.rows.plus(more);
            long expected = now.rows.word();
            if (pool.compareAndSet(PoolHead.ROWS_AT, expected, next.word()) != expected) {
                throw lease.fenced();
            }
            now.rows = next;
        }
    }
}
