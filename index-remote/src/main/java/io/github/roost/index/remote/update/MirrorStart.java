package io.github.roost.index.remote.update;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.format.EpochRoot;
import io.github.roost.index.remote.format.LogTails;
import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.format.RowCount;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Begins to mirror two pools: with the leases of both it compares all their bytes, makes their words the same, and marks them as belonging
 * together. If the process dies in between, the next opening begins again, since only two equal marks count. Used by one thread.
 */
public final class MirrorStart {
    private static final int PIECE = 1 << 20;

    private final OpenPool first;
    private final OpenPool second;
    private final WriterLease leaseOfFirst;
    private final WriterLease leaseOfSecond;

    /** @param first one of the pools, each by its own region */
    public MirrorStart(OpenPool first, OpenPool second) {
        this.first = first;
        this.second = second;
        this.leaseOfFirst = new WriterLease(first, first.timeoutNanos());
        this.leaseOfSecond = new WriterLease(second, second.timeoutNanos());
    }

    /**
     * Marks both pools, unless another process has done so meanwhile. Waits for writers.
     *
     * @throws RemoteMemoryException if they are not the same pool, or cannot be written
     */
    public void run() throws RemoteMemoryException {
        if (first.region().name().equals(second.region().name())) {
            throw new RemoteMemoryException(first.region().name(), "cannot be its own replica");
        }
        for (RemoteMemory.Region region : List.of(first.region(), second.region())) {
            if (!region.isWritable()) {
                throw new RemoteMemoryException(region.name(), "is read-only, and not mirrored yet");
            }
        }
        List<WriterLease> held = new ArrayList<>();
        boolean lost = leaseOfSecond.acquire() == WriterLease.Grant.FROM_LOST;
        held.add(leaseOfSecond);
        try {
            if (areMirrored()) {
                return;
            }
            boolean secondIsOriginal = leaseOfSecond.token() > first.word(PoolHead.LEASE_AT) >>> 1;
            lost |= leaseOfFirst.acquire() == WriterLease.Grant.FROM_LOST;
            held.add(leaseOfFirst);
            leaseOfFirst.raiseTo(leaseOfSecond.token());
            leaseOfSecond.raiseTo(leaseOfFirst.token());
            fenceOff(first, leaseOfFirst);
            fenceOff(second, leaseOfSecond);
            requireSameContent();
            if (secondIsOriginal) {
                copyWords(second, first);
            } else {
                copyWords(first, second);
            }
            long mark = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
            second.replace(PoolHead.MIRROR_AT, before -> mark);
            first.replace(PoolHead.MIRROR_AT, before -> mark);
            lost = false;
        } finally {
            // A lost writer that was not fenced off must be found by the next writer.
            if (!lost) {
                for (WriterLease lease : held) {
                    lease.release();
                }
            }
        }
    }

    private boolean areMirrored() throws RemoteMemoryException {
        long mark = second.word(PoolHead.MIRROR_AT);
        return mark != 0 && mark == first.word(PoolHead.MIRROR_AT);
    }

    /** Fences off every writer that has opened one of the pools alone and was lost. */
    private static void fenceOff(OpenPool pool, WriterLease lease) throws RemoteMemoryException {
        WriterTakeover takeover = new WriterTakeover(pool, lease);
        takeover.fenceOffRoot();
        takeover.abandonReservation();
        takeover.fenceOffLogs(pool.refresh());
        takeover.fenceOffRowCount();
    }

    private void requireSameContent() throws RemoteMemoryException {
        if (!first.head().equals(second.head())) {
            throw different("their heads: " + first.head() + " and " + second.head());
        }
        MemorySegment words = MirrorCheck.words(first, first.region());
        MemorySegment others = MirrorCheck.words(second, second.region());
        EpochRoot root = EpochRoot.of(words.get(LONG, PoolHead.ROOT_AT));
        EpochRoot other = EpochRoot.of(others.get(LONG, PoolHead.ROOT_AT));
        if (root.epoch() != other.epoch() || root.page() != other.page()) {
            throw different("their epochs: " + root.epoch() + " and " + other.epoch());
        }
        long rows = RowCount.of(words.get(LONG, PoolHead.ROWS_AT)).rows();
        long otherRows = RowCount.of(others.get(LONG, PoolHead.ROWS_AT)).rows();
        if (rows != otherRows) {
            throw different("their rows: " + rows + " and " + otherRows);
        }
        for (int pair = 0; pair < first.head().pairs(); pair++) {
            for (int generation = 0; generation < 2; generation++) {
                long at = PoolHead.tailsAt(pair, generation);
                if (withoutFence(words.get(LONG, at)) != withoutFence(others.get(LONG, at))) {
                    throw different("the logs of pair " + pair);
                }
            }
        }
        MemorySegment piece = Arena.ofAuto().allocate(PIECE, 64);
        MemorySegment otherPiece = Arena.ofAuto().allocate(PIECE, 64);
        long bytes = first.head().bytes();
        for (long at = words.byteSize(); at < bytes; at += PIECE) {
            long length = Math.min(PIECE, bytes - at);
            long differs =
                    read(first, at, piece.asSlice(0, length)).mismatch(read(second, at, otherPiece.asSlice(0, length)));
            if (differs >= 0) {
                throw different("the byte at " + (at + differs));
            }
            leaseOfFirst.renew();
            leaseOfSecond.renew();
        }
    }

    private static long withoutFence(long word) {
        LogTails tails = LogTails.of(word);
        return new LogTails(0, tails.generation(), tails.even(), tails.odd()).word();
    }

    private static MemorySegment read(OpenPool pool, long at, MemorySegment into) throws RemoteMemoryException {
        pool.await(pool.region().get(List.of(new RemoteMemory.Region.Transfer(at, into))));
        return into;
    }

    /** Copies all words that both pools must have in common, from the one that more writers have changed. */
    private static void copyWords(OpenPool from, OpenPool to) throws RemoteMemoryException {
        MemorySegment words = MirrorCheck.words(from, from.region());
        List<RemoteMemory.Region.Transfer> transfers = new ArrayList<>();
        for (long at = PoolHead.ROOT_AT; at < words.byteSize(); at += Long.BYTES) {
            if (isShared(at)) {
                transfers.add(new RemoteMemory.Region.Transfer(at, words.asSlice(at, Long.BYTES)));
            }
        }
        to.await(to.region().put(transfers));
    }

    /** Not heartbeat and term, nor what this writes by itself, nor the holds. */
    private static boolean isShared(long at) {
        return switch ((int) Math.min(at, PoolHead.PAIRS_AT)) {
            case PoolHead.HEARTBEAT_AT, PoolHead.TERM_AT, PoolHead.LEASE_AT, PoolHead.MIRROR_AT -> false;
            default -> at < PoolHead.READERS_AT || at >= PoolHead.PAIRS_AT;
        };
    }

    private RemoteMemoryException different(String what) {
        return MirrorCheck.different(first.region(), second.region(), what);
    }
}
