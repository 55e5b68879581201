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
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Whether two pools with one mark are still the same: not if the file of one was replaced by an older one. Compares the words that every
 * change replaces, of a row at least two of them; others may lag until a writer needs them. Stateless.
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
            int differ = differing(both, words(both, first), words(both, second));
            if (differ > (lost ? 1 : 0)) {
                throw different(first, second, differ + " of the words that change");
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

    private static int differing(OpenPool both, MemorySegment one, MemorySegment other) throws RemoteMemoryException {
        Directory directory = both.refresh();
        LongStream tails = IntStream.range(0, both.head().pairs())
                .mapToLong(pair -> PoolHead.tailsAt(
                        pair, directory.partitions().get(2 * pair).generation()));
        return (int) LongStream.concat(
                        LongStream.of(PoolHead.ROOT_AT, PoolHead.ROWS_AT),
                        tails.flatMap(at -> LongStream.of(at, at + Long.BYTES)))
                .filter(at -> one.get(LONG, at) != other.get(LONG, at))
                .count();
    }

    static RemoteMemoryException different(RemoteMemory.Region first, RemoteMemory.Region second, String what) {
        return new RemoteMemoryException(
                second.name(),
                "is not the same pool as " + first.name() + ": they differ in " + what
                        + "; replace one by a copy of the other, made while nobody changes it");
    }
}
