package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Whether two pools with one mark are still the same: not if the file of one was replaced by an older one. Compares the words that changes
 * replace; a change of a row replaces at least two of them. Stateless.
 */
public final class MirrorCheck {
    private MirrorCheck() {}

    /**
     * Compares the words with the lease, so that nobody changes them meanwhile. If it was that of a lost writer, one word may lag, and the lease is
     * left to expire: the next writer repairs the pools.
     *
     * @param both a mirrored pool
     * @param first its first node
     * @param second its second node
     * @throws RemoteMemoryException if they differ
     */
    public static void requireSame(OpenPool both, RemoteMemory.Region first, RemoteMemory.Region second)
            throws RemoteMemoryException {
        WriterLease lease = new WriterLease(both, both.timeoutNanos());
        boolean lost = lease.acquire() == WriterLease.Grant.FROM_LOST;
        try {
            int differ = differing(words(both, first), words(both, second), both.head());
            if (differ > (lost ? 1 : 0)) {
                throw different(
                        first,
                        second,
                        differ + " words of " + PoolHead.pairsEnd(both.head().partitions()) / 8);
            }
        } finally {
            if (!lost) {
                lease.release();
            }
        }
    }

    /** Reads the head and the words of all pairs of one node. */
    static MemorySegment words(OpenPool pool, RemoteMemory.Region node) throws RemoteMemoryException {
        MemorySegment words =
                Arena.ofAuto().allocate(PoolHead.pairsEnd(pool.head().partitions()), 8);
        pool.await(node.get(List.of(new RemoteMemory.Region.Transfer(0, words))));
        return words;
    }

    private static int differing(MemorySegment one, MemorySegment other, PoolHead head) {
        int differ = 0;
        for (long at = 0; at < PoolHead.pairsEnd(head.partitions()); at += Long.BYTES) {
            if (isShared(at) && one.get(LONG, at) != other.get(LONG, at)) {
                differ++;
            }
        }
        return differ;
    }

    /** Whether a word of the head is the same in both: not heartbeats and terms, nor holds and the lease, which others may replace meanwhile. */
    static boolean isShared(long at) {
        boolean isHold = at >= PoolHead.READERS_AT && at < PoolHead.PAIRS_AT;
        return !isHold && at != PoolHead.HEARTBEAT_AT && at != PoolHead.TERM_AT && at != PoolHead.LEASE_AT;
    }

    static RemoteMemoryException different(RemoteMemory.Region first, RemoteMemory.Region second, String what) {
        return new RemoteMemoryException(
                second.name(),
                "is not the same pool as " + first.name() + ": they differ in " + what
                        + "; replace one by a copy of the other, made while nobody changes it");
    }
}
