package io.github.roost.index.remote;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.format.PoolHead;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A pool in the memory of two nodes. Reads go to the first; when that is lost, to the second. Writes go to both. Thread-safe.
 *
 * <p>The order of writes. A compare-and-set is decided at the second node; only then the first gets the same word, and when it has it, the caller
 * gets the answer. A put is at both nodes when the caller gets the answer. Since a writer waits for each answer before its next step, each
 * node alone sees all steps of all writers in one order, as if it were the only one: the lease before records, records before the tails that
 * publish them, images before the root that names them. So whatever is lost, in the middle of a change too, the other node's pool is one whose
 * writer died before one of its steps, and is repaired like that. The second node has all that readers have seen in the first, so a reader that
 * changes over sees nothing go back.
 *
 * <p>If a process dies or is stopped between its two compare-and-sets of a word, the first node's word lags. Every later compare-and-set of the
 * word brings it to what the second has, and then the stopped process's own one fails there, as words do not come back to former values: they
 * have tokens, epochs and fences, see {@code PoolWriter}. Only the words of reserved space may: a late one names free space, as a stopped writer
 * of a single node may do too, and writers allow for that. A writer that takes over sets all words that it relies on, so it finds none that lags.
 *
 * <p>Why two writers never write to different nodes at once: a change needs both nodes, so none is acknowledged once one is lost. A pool that is
 * mirrored has a mark, with which a writer that has only this node refuses to change it. {@link RemoteTable#alone} takes the mark away. Each
 * compare-and-set of the lease looks at the marks of both nodes when both have the new word; so either it finds that a mark is gone, or the
 * writer without the mark finds the lease taken, and waits. The last step of each change is such a compare-and-set.
 */
final class MirroredRegion implements RemoteMemory.Region {
    private static final long LOOK_MILLIS = 250;
    private static final int LOOKS_PER_TERM = 8;

    private final MirrorNode first;
    private final MirrorNode second;
    private final long bytes;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread looking;

    MirroredRegion(MirrorNode first, MirrorNode second) {
        this.first = first;
        this.second = second;
        this.bytes = Math.min(first.region().bytes(), second.region().bytes());
        this.looking =
                Thread.ofPlatform().daemon().name("roost-mirror-" + name()).start(this::look);
    }

    private void look() {
        long millis = LOOK_MILLIS;
        for (MirrorNode node : List.of(first, second)) {
            if (node.termMillis() > 0) {
                millis = Math.clamp(node.termMillis() / LOOKS_PER_TERM, 1, millis);
            }
        }
        try {
            while (!closing.await(millis, TimeUnit.MILLISECONDS)) {
                first.look(millis);
                second.look(millis);
                loseTheOneThatWasLeft();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Both nodes, as they were opened. */
    List<RemoteMemory.Region> nodes() {
        return List.of(first.region(), second.region());
    }

    @Override
    public String name() {
        return first.region().name();
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public boolean isWritable() {
        return first.region().isWritable() && second.region().isWritable();
    }

    @Override
    public CompletableFuture<Void> get(List<Transfer> transfers) {
        RemoteMemoryException outside = outside(transfers);
        if (outside != null) {
            return CompletableFuture.failedFuture(outside);
        }
        CompletableFuture<Void> got = first.lost() == null
                ? first.get(transfers).exceptionallyCompose(lost -> getFromSecond(transfers))
                : getFromSecond(transfers);
        return transfers.stream().anyMatch(transfer -> transfer.offset() <= PoolHead.MIRROR_AT)
                ? got.thenRun(() -> transfers.forEach(MirroredRegion::hide))
                : got;
    }

    private CompletableFuture<Void> getFromSecond(List<Transfer> transfers) {
        RemoteMemoryException lost = second.lost();
        return lost == null ? second.get(transfers) : CompletableFuture.failedFuture(lost);
    }

    /** The term is watched here, and the mark is for those who have opened one node: tables see a pool without both. */
    private static void hide(Transfer transfer) {
        for (int at : new int[] {PoolHead.TERM_AT, PoolHead.MIRROR_AT}) {
            if (transfer.offset() <= at && at + Long.BYTES <= end(transfer)) {
                transfer.local().set(LONG, at - transfer.offset(), 0);
            }
        }
    }

    private static long end(Transfer transfer) {
        return transfer.offset() + transfer.local().byteSize();
    }

    @Override
    public CompletableFuture<Void> put(List<Transfer> transfers) {
        RemoteMemoryException outside = outside(transfers);
        RemoteMemoryException refused = outside != null ? outside : refused();
        return refused != null
                ? CompletableFuture.failedFuture(refused)
                : CompletableFuture.allOf(second.put(transfers), first.put(transfers));
    }

    @Override
    public CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
        if (offset % Long.BYTES != 0 || !isInside(offset, Long.BYTES)) {
            return CompletableFuture.failedFuture(outside(offset, Long.BYTES));
        }
        RemoteMemoryException refused = refused();
        if (refused != null) {
            return CompletableFuture.failedFuture(refused);
        }
        CompletableFuture<Long> done = second.compareAndSet(offset, expected, next)
                .thenCompose(found -> follow(offset, expected, found == expected ? next : found)
                        .thenApply(same -> found));
        return offset == PoolHead.LEASE_AT
                ? done.thenCompose(found -> requireMirrored().thenApply(still -> found))
                : done;
    }

    /** Brings the first node's word, presumably {@code from}, to what the second has or has had since this was called. */
    private CompletableFuture<Void> follow(long offset, long from, long to) {
        return first.compareAndSet(offset, from, to)
                .thenCompose(found -> found == from || found == to
                        ? CompletableFuture.completedFuture(null)
                        : requireMirrored()
                                .thenCompose(still -> second.word(offset))
                                .thenCompose(decided -> follow(offset, found, decided)));
    }

    /** Fails if a node is lost, or was opened without the other one. */
    private CompletableFuture<Void> requireMirrored() {
        return CompletableFuture.allOf(first.readMark(), second.readMark()).thenCompose(read -> {
            loseTheOneThatWasLeft();
            RemoteMemoryException refused = refused();
            return refused == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(refused);
        });
    }

    private void loseTheOneThatWasLeft() {
        if (first.isLeft()) {
            second.lose(left(second, first));
        }
        if (second.isLeft()) {
            first.lose(left(first, second));
        }
    }

    private static RemoteMemoryException left(MirrorNode lost, MirrorNode other) {
        return new RemoteMemoryException.NodeLostException(
                lost.region().name(), other.region().name() + " was opened without it");
    }

    /** Why nothing can be written; null if it can. */
    private @Nullable RemoteMemoryException refused() {
        if (!isWritable()) {
            return new RemoteMemoryException(name(), "is read-only");
        }
        RemoteMemoryException lost = first.lost() != null ? first.lost() : second.lost();
        return lost == null
                ? null
                : new RemoteMemoryException(
                        name(),
                        "takes no changes, as one of its two nodes is lost: open it again with both, or with the one"
                                + " that is left by RemoteTable.alone",
                        lost);
    }

    private @Nullable RemoteMemoryException outside(List<Transfer> transfers) {
        for (Transfer transfer : transfers) {
            if (!isInside(transfer.offset(), transfer.local().byteSize())) {
                return outside(transfer.offset(), transfer.local().byteSize());
            }
        }
        return null;
    }

    private boolean isInside(long offset, long length) {
        return offset >= 0 && length <= bytes && offset <= bytes - length;
    }

    private RemoteMemoryException outside(long offset, long length) {
        return new RemoteMemoryException(name(), "has " + bytes + " bytes, asked for " + length + " at " + offset);
    }

    @Override
    public void close() {
        closing.countDown();
        boolean interrupted = false;
        while (looking.isAlive()) {
            try {
                looking.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            first.region().close();
        } finally {
            second.region().close();
        }
    }
}
