package io.github.roost.index.remote;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One of the two nodes of a {@link MirroredRegion}, and whether it is lost: a transfer has failed, its heartbeat has stood still for its term, or
 * somebody has opened the other node alone. A lost node stays lost, since the pool of the other one may have changed without it. Thread-safe;
 * {@link #look} is for one thread.
 */
final class MirrorNode {
    private final RemoteMemory.Region region;
    private final long mark;
    private final long termMillis;
    private volatile @Nullable RemoteMemoryException lost;

    private volatile boolean isLeft;

    /** Heartbeat and mark. */
    private final MemorySegment seen = Arena.ofAuto().allocate(2 * Long.BYTES, 8);

    private CompletableFuture<Void> looking;
    private long heartbeat;
    private long silentMillis;

    /** @param head the first bytes of the pool, with the words of this moment */
    MirrorNode(RemoteMemory.Region region, MemorySegment head) {
        this.region = region;
        this.mark = head.get(LONG, PoolHead.MIRROR_AT);
        this.termMillis = head.get(LONG, PoolHead.TERM_AT);
        this.heartbeat = head.get(LONG, PoolHead.HEARTBEAT_AT);
        this.looking = beginLook();
    }

    private CompletableFuture<Void> beginLook() {
        return region.get(List.of(
                new RemoteMemory.Region.Transfer(PoolHead.HEARTBEAT_AT, seen.asSlice(0, Long.BYTES)),
                new RemoteMemory.Region.Transfer(PoolHead.MIRROR_AT, seen.asSlice(Long.BYTES, Long.BYTES))));
    }

    /** Reads the head of a pool. Blocks. */
    static MemorySegment head(RemoteMemory.Region region) throws RemoteMemoryException {
        if (region.bytes() < PoolHead.BYTES) {
            throw new RemoteMemoryException(
                    region.name(), "has " + region.bytes() + " bytes, less than a pool's head of " + PoolHead.BYTES);
        }
        MemorySegment head = Arena.ofAuto().allocate(PoolHead.BYTES, 8);
        try {
            region.get(List.of(new RemoteMemory.Region.Transfer(0, head))).join();
        } catch (CompletionException failed) {
            throw OpenPool.failure(region.name(), failed);
        }
        return head;
    }

    RemoteMemory.Region region() {
        return region;
    }

    /** Time without a heartbeat after which the node is lost; 0 if no node serves the pool. */
    long termMillis() {
        return Math.max(0, termMillis);
    }

    /** Why the node is lost; null if it is not. */
    @Nullable
    RemoteMemoryException lost() {
        return lost;
    }

    void lose(RemoteMemoryException why) {
        if (lost == null) {
            lost = why;
        }
    }

    CompletableFuture<Void> get(List<RemoteMemory.Region.Transfer> transfers) {
        return watched(region.get(transfers));
    }

    CompletableFuture<Void> put(List<RemoteMemory.Region.Transfer> transfers) {
        return watched(region.put(transfers));
    }

    CompletableFuture<Long> compareAndSet(long offset, long expected, long next) {
        return watched(region.compareAndSet(offset, expected, next));
    }

    CompletableFuture<Long> word(long offset) {
        MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, 8);
        return get(List.of(new RemoteMemory.Region.Transfer(offset, word))).thenApply(got -> word.get(LONG, 0));
    }

    /** Reads the mark for {@link #isLeft}. */
    CompletableFuture<Void> readMark() {
        return word(PoolHead.MIRROR_AT).thenAccept(this::compareMark);
    }

    private void compareMark(long now) {
        if (now != mark) {
            isLeft = true;
        }
    }

    /** Whether the mark was seen to be another one: somebody has opened this node alone, or with a third one. */
    boolean isLeft() {
        return isLeft;
    }

    private <T> CompletableFuture<T> watched(CompletableFuture<T> transfer) {
        return transfer.whenComplete((done, failed) -> {
            if (failed != null) {
                lose(OpenPool.failure(region.name(), failed));
            }
        });
    }

    /**
     * Looks for a new heartbeat, and at the mark. Silence is counted by these looks, not by a clock: if this process was stopped, that is one look.
     *
     * @param millis time between two looks
     */
    void look(long millis) {
        silentMillis += millis;
        if (looking.isDone()) {
            if (looking.isCompletedExceptionally()) {
                lose(OpenPool.failure(region.name(), looking.exceptionNow()));
                return;
            }
            if (seen.get(LONG, 0) != heartbeat) {
                heartbeat = seen.get(LONG, 0);
                silentMillis = 0;
            }
            compareMark(seen.get(LONG, Long.BYTES));
            looking = beginLook();
        }
        if (termMillis > 0 && silentMillis > termMillis + millis) {
            lose(new RemoteMemoryException.NodeLostException(region.name(), silentMillis, termMillis));
        }
    }
}
