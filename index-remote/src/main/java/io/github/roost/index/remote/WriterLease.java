package io.github.roost.index.remote;

import java.util.concurrent.locks.LockSupport;

/**
 * The right to change a pool: a word of the region that one writer at a time has made its own by compare-and-set. Its upper bits are a
 * token that rises with each writer that gets it or renews it, its lowest bit says whether somebody has it.
 *
 * <p>No two clocks are compared: who waits for the lease takes over when the word has stood still for a term by its own clock. The one
 * that had it may only have been stopped, and may go on in the middle of anything. So who takes over fences it off before it reads
 * anything that it goes by, see {@link PoolWriter}. Used by one thread at a time.
 */
final class WriterLease {
    private static final long MIN_PAUSE_NANOS = 20_000;
    private static final long MAX_PAUSE_NANOS = 2_000_000;
    private static final long HELD = 1;
    /** Nobody's word: the first one is 0. */
    private static final long UNKNOWN = -1;

    private final OpenPool pool;
    private final long termNanos;
    private final long patienceNanos;
    /** The word as this writer left it or has it. */
    private long mine = UNKNOWN;

    /** @param patienceNanos how long to wait for other writers, beyond a term */
    WriterLease(OpenPool pool, long patienceNanos) {
        this.pool = pool;
        this.termNanos = pool.head().leaseMillis() * 1_000_000L;
        this.patienceNanos = patienceNanos;
    }

    /** How the lease was got. */
    enum Grant {
        /** Nobody has had it since this writer had it. */
        AGAIN,
        /** Others have had it, and have given it back. */
        FROM_OTHERS,
        /** Another had it and has not renewed it for a term. */
        FROM_LOST
    }

    /** Waits for the lease, and gets it. */
    Grant acquire() throws RemoteMemoryException {
        long began = System.nanoTime();
        long pause = MIN_PAUSE_NANOS;
        long word = mine == UNKNOWN || isHeld(mine) ? pool.word(PoolHead.LEASE_AT) : mine;
        long since = began;
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
                since = now;
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

    /** Has the lease last for another term from now on; the token is another one then. */
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

    /** That this writer has lost it. */
    WriterFencedException fenced() {
        return new WriterFencedException(pool.region().name(), token());
    }

    /** The fencing token: greater than that of every change before. */
    long token() {
        return mine >>> 1;
    }

    private static boolean isHeld(long word) {
        return (word & HELD) != 0;
    }

    private static long held(long word) {
        return ((word >>> 1) + 1) << 1 | HELD;
    }
}
