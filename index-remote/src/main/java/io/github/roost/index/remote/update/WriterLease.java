package io.github.roost.index.remote.update;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import java.util.concurrent.locks.LockSupport;

/**
 * The lease that a writer needs to change a pool: a word of the region, taken by compare-and-set. Its upper bits are a token that rises each time
 * the lease is taken or renewed; its lowest bit says whether it is held.
 *
 * <p>No clocks are compared: a waiting writer takes over when the word has not changed for a term by its own clock. The previous holder may only
 * have been stopped, and may continue at any point. So the new holder fences it off before it reads anything that it depends on, see
 * {@link PoolWriter}. Used by one thread at a time.
 */
final class WriterLease {
    private static final long MIN_PAUSE_NANOS = 20_000;
    private static final long MAX_PAUSE_NANOS = 2_000_000;
    private static final long HELD = 1;
    /** Never a word of the region: the first one is 0. */
    private static final long UNKNOWN = -1;

    private final OpenPool pool;
    private final long termNanos;
    private final long patienceNanos;
    /** The word as this writer last wrote it. */
    private long mine = UNKNOWN;

    /** @param patienceNanos how long to wait for other writers, in addition to a term */
    WriterLease(OpenPool pool, long patienceNanos) {
        this.pool = pool;
        this.termNanos = pool.head().leaseMillis() * 1_000_000L;
        this.patienceNanos = patienceNanos;
    }

    /** How the lease was acquired. */
    enum Grant {
        /** No other writer has had it since this writer had it. */
        AGAIN,
        /** Other writers have had it and have given it back. */
        FROM_OTHERS,
        /** Another writer held it and has not renewed it for a term. */
        FROM_LOST
    }

    /** Waits for the lease and takes it. */
    Grant acquire() throws RemoteMemoryException {
        long began = System.nanoTime();
        long pause = MIN_PAUSE_NANOS;
        long word = mine == UNKNOWN || isHeld(mine) ? pool.word(PoolHead.LEASE_AT) : mine;
        // After the read: before it the word may have been another one.
        long since = System.nanoTime();
        while (true) {
            long now = System.nanoTime();
            boolean lost = isHeld(word) && now - since > termNanos;
            long found = isHeld(word) && !lost ? pool.word(PoolHead.LEASE_AT) : take(word);
            if (found == word && (lost || !isHeld(word))) {
                Grant grant = lost ? Grant.FROM_LOST : word == mine ? Grant.AGAIN : Grant.FROM_OTHERS;
                mine = held(word);
                return grant;
            }
            if (found != word) {
                word = found;
                since = System.nanoTime();
            }
            if (now - began > termNanos + patienceNanos) {
                throw new RemoteMemoryException(
                        pool.region().name(),
                        "is being changed by others: no lease for " + (now - began) / 1_000_000 + " ms");
            }
            if (isHeld(word)) {
                LockSupport.parkNanos(pause);
                pause = Math.min(2 * pause, MAX_PAUSE_NANOS);
            }
        }
    }

    private long take(long word) throws RemoteMemoryException {
        return pool.compareAndSet(PoolHead.LEASE_AT, word, held(word));
    }

    /** Renews the lease for another term, with a new token. */
    void renew() throws RemoteMemoryException {
        long next = held(mine);
        if (pool.compareAndSet(PoolHead.LEASE_AT, mine, next) != mine) {
            throw fenced();
        }
        mine = next;
    }

    /** Gives the lease back. */
    void release() throws RemoteMemoryException {
        long free = mine & ~HELD;
        if (pool.compareAndSet(PoolHead.LEASE_AT, mine, free) != mine) {
            throw fenced();
        }
        mine = free;
    }

    /** Raises the token of the lease, which is held, to another one if it is lower. */
    void raiseTo(long token) throws RemoteMemoryException {
        long next = token << 1 | HELD;
        if (next > mine) {
            if (pool.compareAndSet(PoolHead.LEASE_AT, mine, next) != mine) {
                throw fenced();
            }
            mine = next;
        }
    }

    /** The exception for a writer that has lost the lease. */
    RemoteMemoryException.WriterFencedException fenced() {
        return new RemoteMemoryException.WriterFencedException(pool.region().name(), token());
    }

    /** The fencing token: greater than the tokens of all earlier changes. */
    long token() {
        return mine >>> 1;
    }

    static boolean isHeld(long word) {
        return (word & HELD) != 0;
    }

    private static long held(long word) {
        return ((word >>> 1) + 1) << 1 | HELD;
    }
}
