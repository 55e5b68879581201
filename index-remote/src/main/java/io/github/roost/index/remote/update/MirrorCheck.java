package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Whether two pools with one mark are still the same: not if the file of one was replaced by an older one. Compares the words that every
 * change replaces, of a row at least two of them; others may lag until a writer needs them. Stateless.
 */
public final class MirrorCheck {
    private static final long PAUSE_NANOS = 1_000_000;

    private MirrorCheck() {}

    /**
     * Compares the words at a moment at which nobody changes them, without a change to either pool. A lost writer may have left one word that
     * lags at the first node. That gets what the second has then, so that never two of them lag.
     *
     * @param both a mirrored pool
     * @param first its first node
     * @param second its second node
     * @throws RemoteMemoryException if they differ
     */
    public static void requireSame(OpenPool both, RemoteMemory.Region first, RemoteMemory.Region second)
            throws RemoteMemoryException {
        long termNanos = both.head().leaseMillis() * 1_000_000L;
        long began = System.nanoTime();
        long lease = lease(both, second);
        long since = System.nanoTime();
        while (System.nanoTime() - began <= termNanos + both.timeoutNanos()) {
            boolean lost = WriterLease.isHeld(lease) && System.nanoTime() - since > termNanos;
            if (lost || !WriterLease.isHeld(lease)) {
                MemorySegment one = words(both, first);
                MemorySegment other = words(both, second);
                if (lease(both, second) == lease) {
                    requireSame(both, one, other, first, second, lost);
                    return;
                }
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            long now = lease(both, second);
            if (now != lease) {
                lease = now;
                since = System.nanoTime();
            }
        }
        requireSameBetweenWriters(both, first, second);
    }

    /** Where others change the pool all the time. */
    private static void requireSameBetweenWriters(OpenPool both, RemoteMemory.Region first, RemoteMemory.Region second)
            throws RemoteMemoryException {
        WriterLease lease = new WriterLease(both, both.timeoutNanos());
        // That of a lost writer is left to expire: the next writer repairs the pools.
        boolean lost = lease.acquire() == WriterLease.Grant.FROM_LOST;
        try {
            requireSame(both, words(both, first), words(both, second), first, second, lost);
        } finally {
            if (!lost) {
                lease.release();
            }
        }
    }

    private static void requireSame(
            OpenPool both,
            MemorySegment one,
            MemorySegment other,
            RemoteMemory.Region first,
            RemoteMemory.Region second,
            boolean lost)
            throws RemoteMemoryException {
        long[] differing = differing(both, one, other);
        if (differing.length > (lost ? 1 : 0)) {
            throw different(first, second, differing.length + " of the words that change");
        }
        for (long at : differing) {
            both.settled(at);
        }
    }

    private static long lease(OpenPool pool, RemoteMemory.Region node) throws RemoteMemoryException {
        MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, 8);
        pool.await(node.get(List.of(new RemoteMemory.Region.Transfer(PoolHead.LEASE_AT, word))));
        return word.get(LONG, 0);
    }

    /** Reads the head and the words of all pairs of one node. */
    static MemorySegment words(OpenPool pool, RemoteMemory.Region node) throws RemoteMemoryException {
        MemorySegment words =
                Arena.ofAuto().allocate(PoolHead.pairsEnd(pool.head().partitions()), 8);
        pool.await(node.get(List.of(new RemoteMemory.Region.Transfer(0, words))));
        return words;
    }

    private static long[] differing(OpenPool both, MemorySegment one, MemorySegment other)
            throws RemoteMemoryException {
        Directory directory = both.refresh();
        LongStream tails = IntStream.range(0, both.head().pairs())
                .mapToLong(pair -> PoolHead.tailsAt(
                        pair, directory.partitions().get(2 * pair).generation()));
        return LongStream.concat(
                        LongStream.of(PoolHead.ROOT_AT, PoolHead.ROWS_AT),
                        tails.flatMap(at -> LongStream.of(at, at + Long.BYTES)))
                .filter(at -> one.get(LONG, at) != other.get(LONG, at))
                .toArray();
    }

    static RemoteMemoryException different(RemoteMemory.Region first, RemoteMemory.Region second, String what) {
        return new RemoteMemoryException(
                second.name(),
                "is not the same pool as " + first.name() + ": they differ in " + what
                        + "; replace one by a copy of the other, made while nobody changes it");
    }
}
