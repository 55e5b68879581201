package io.github.roost.index.remote;

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
 * partition that it concerns. Its steps, each one transfer:
 *
 * <ol>
 *   <li>the {@link WriterLease} is taken;
 *   <li>slots are handed out by {@link LogSlots}: they are this writer's for ever;
 *   <li>the records are written into them;
 *   <li>{@link LogTails} are moved over them, of both logs of a pair at once: from then on readers see the records;
 *   <li>the count of rows is moved, and the lease given back.
 * </ol>
 *
 * <p>Why a writer that dies at any step loses only what it had not acknowledged: before step 4 no reader looks at the records, and what
 * the slots hold is passed over by the records after them, which name the slot before. Step 4 is one compare-and-set. A row that
 * moves to another pair is inserted there before it is taken out here: a writer that dies between the two leaves both, and who takes
 * over takes out the one with the lesser token; where the log has no slot left for that, when that pair is built anew, before which
 * nothing else is changed.
 *
 * <p>Why a writer that was stopped, was taken for dead, and goes on, harms nothing: who takes over first changes the {@link
 * LogTails#fenced fence} of every pair. A writer reads the tails and only then makes sure that it still has the lease, so the tails that it
 * expects were read before it was fenced off, and its compare-and-set fails. The slots that it may still write to are nobody else's.
 *
 * <p>A writer knows which partitions the row of each id is in: it reads the whole pool at its first change, and the logs of others' changes
 * when others have changed something. Thread-safe: callers take turns.
 */
final class PoolWriter implements AutoCloseable {
    private final OpenPool pool;
    private final WriterLease lease;
    private final PoolReading reading;
    private final WriterTakeover takeover;
    private final LogAppend append;
    private final PairPublication publication;
    private final ReentrantLock turn = new ReentrantLock(true);
    /** What is known of the pool; null before the first change, and after one whose outcome is not known. */
    private @Nullable KnownPool known;

    /**
     * A writer that knows nothing yet.
     *
     * @param patienceNanos how long to wait for other writers, beyond a term
     * @param nearlyFull told of a pair whose logs should be emptied, by the thread that changes something
     */
    PoolWriter(OpenPool pool, long patienceNanos, IntConsumer nearlyFull) {
        this.pool = pool;
        this.lease = new WriterLease(pool, patienceNanos);
        this.reading = new PoolReading(pool, lease);
        this.takeover = new WriterTakeover(pool);
        this.append = new LogAppend(pool, lease, nearlyFull);
        this.publication = new PairPublication(pool, lease, reading);
    }

    /** What is done while the lease is held. */
    private interface Task<T> {
        T run(KnownPool now) throws RemoteMemoryException;
    }

    /**
     * Inserts or replaces a row.
     *
     * @param vector {@linkplain Partitioner#inSpace in space}
     * @return whether there was none of this id
     */
    boolean put(long id, float[] vector) throws RemoteMemoryException {
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

    /** Removes a row; whether there was one. */
    boolean remove(long id) throws RemoteMemoryException {
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

    /** {@link PairPublication#publish} with the lease. */
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
            long asked = System.nanoTime();
            pool.watch().require(pool.word(PoolHead.HEARTBEAT_AT), asked, System.nanoTime());
            WriterLease.Grant grant = lease.acquire();
            boolean ended = false;
            try {
                KnownPool now = upToDate(grant);
                T answer;
                try {
                    answer = task.run(now);
                } catch (PartitionLogFullException refused) {
                    // Nothing was begun.
                    ended = now.leftOver.isEmpty();
                    throw refused;
                }
                ended = now.leftOver.isEmpty();
                return answer;
            } finally {
                if (ended) {
                    lease.release();
                } else {
                    // What has reached the region is not known, and transfers may still be under way; or rows are there
                    // twice. The lease is left to end, so that whoever gets it next, perhaps this writer, fences them
                    // off, looks, and finds these rows.
                    forget();
                }
            }
        } finally {
            turn.unlock();
        }
    }

    private void forget() {
        KnownPool before = known;
        known = null;
        if (before != null) {
            before.places.close();
        }
    }

    /** Frees what is known of the pool, once the change that is under way has ended. A change after that reads the pool anew, so there must be none. */
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
            takeover.giveUpWhatWasBeingFilled();
        }
        Directory directory = pool.refresh();
        if (grant == WriterLease.Grant.FROM_LOST) {
            takeover.fenceOffTails(directory);
        }
        LogTails[] tails = reading.tails(directory);
        // Only now: tails that were read while the lease was held are not those of a writer that has taken over.
        lease.renew();
        if (before != null && grant != WriterLease.Grant.FROM_LOST) {
            return reading.others(before, directory, tails);
        }
        forget();
        KnownPool now = new KnownPool(directory, new RowPlaces());
        // Before it is filled: whatever fails frees it.
        known = now;
        readAll(now, tails);
        return now;
    }

    private void readAll(KnownPool now, LogTails[] tails) throws RemoteMemoryException {
        reading.all(now, tails);
        Map<Integer, List<LogChange>> byPair = new TreeMap<>();
        for (RowPlaces.Stale row : now.places.gathered()) {
            byPair.computeIfAbsent(row.partition() / 2, pair -> new ArrayList<>())
                    .add(LogChange.moved(row.partition(), row.id(), now.places.of(row.id())[0]));
        }
        for (List<LogChange> ofPair : byPair.values()) {
            try {
                append.write(now, ofPair);
            } catch (PartitionLogFullException full) {
                // Who builds the pair anew takes them out.
                now.leftOver.addAll(ofPair);
            }
        }
        count(now, now.places.size() - now.rows);
    }

    /**
     * While a row is in two pairs by fault neither may change: who comes next could not tell which of the two counts once the records
     * that say so are gone.
     */
    private void requireNoneLeftOver(KnownPool now) throws PartitionLogFullException {
        if (!now.leftOver.isEmpty()) {
            throw append.full(now, now.leftOver.getFirst().partition());
        }
    }

    /** The head and the words of all pairs, of one moment between two changes. */
    MemorySegment wordsAtRest() throws RemoteMemoryException {
        return withLease(now -> {
            MemorySegment words =
                    Arena.ofAuto().allocate(PoolHead.pairsEnd(pool.head().partitions()), 8);
            pool.await(pool.region().get(List.of(new RemoteRegion.Transfer(0, words))));
            return words;
        });
    }

    private void count(KnownPool now, long more) throws RemoteMemoryException {
        if (more != 0) {
            long found = pool.compareAndSet(PoolHead.ROWS_AT, now.rows, now.rows + more);
            if (found != now.rows) {
                throw lease.fenced();
            }
            now.rows += more;
        }
    }
}
