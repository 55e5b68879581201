package io.github.roost.index.remote;

import static io.github.roost.index.remote.format.Bytes.LONG;

import io.github.roost.index.remote.format.PoolHead;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.update.MirrorCheck;
import io.github.roost.index.remote.update.MirrorStart;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * A provider of pools that two memory nodes have, each in full: what both have acknowledged survives the loss of either. Thread-safe.
 *
 * <pre>{@code
 * RemoteMemory memory = new MirroredMemory(RemoteMemory.mapped(one), RemoteMemory.mapped(other), "products.pool");
 * MutableRemoteTable table = RemoteTable.builder().open(orchestrator, "products", memory, "products.pool");
 * }</pre>
 *
 * <p>The first time that two pools are opened together, one must be a copy of the other, such as {@link RemoteTable#save} makes, and nobody may
 * change either. Both are read and compared then, and are marked as belonging together. From then on a table that has opened only one of them
 * can search it, but not change it.
 *
 * <p>A change writes to both nodes, and is acknowledged when both have it. Searches read the first node. A node is lost once a transfer fails, or
 * its heartbeat stands still for its term. Then searches go on with the other one, and changes fail with a {@link RemoteMemoryException}: if the
 * two could be changed apart, changes would be lost. To go on, open the table again with both nodes, or, if one does not come back, with
 * {@link #alone} the other.
 */
public final class MirroredMemory implements RemoteMemory {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final RemoteMemory first;
    private final RemoteMemory second;
    private final String secondRegion;

    /**
     * Makes a provider of mirrored pools.
     *
     * @param first provider of the pools that searches read
     * @param second provider of the replica; may be the same
     * @param secondRegion name of the replica at its provider
     */
    public MirroredMemory(RemoteMemory first, RemoteMemory second, String secondRegion) {
        this.first = Objects.requireNonNull(first, "first must not be null");
        this.second = Objects.requireNonNull(second, "second must not be null");
        this.secondRegion = Objects.requireNonNull(secondRegion, "secondRegion must not be null");
    }

    /**
     * A provider that opens a mirrored pool without its other node, for changes too. Tables that have both nodes open refuse changes from then on.
     * The other node's pool is out of date as soon as this one changes: end that node before, and copy the pool to have two again.
     *
     * @param memory provider of the node that is left
     * @return a provider of the same regions; pools that are not mirrored are opened as they are
     */
    public static RemoteMemory alone(RemoteMemory memory) {
        return new Alone(Objects.requireNonNull(memory, "memory must not be null"));
    }

    /**
     * {@inheritDoc}
     *
     * @param region its name at the first provider
     * @throws RemoteMemoryException if one of the two cannot be opened, or they are not the same pool
     */
    @Override
    public RemoteMemory.Region open(String region) throws IOException {
        if (!areMirrored(region)) {
            try (OpenPool one = OpenPool.open(first.open(region), TIMEOUT);
                    OpenPool other = OpenPool.open(second.open(secondRegion), TIMEOUT)) {
                new MirrorStart(one, other).run();
            }
        }
        MirroredRegion checked = both(region);
        if (!checked.isWritable()) {
            return checked;
        }
        try (OpenPool pool = OpenPool.open(checked, TIMEOUT)) {
            MirrorCheck.requireSame(
                    pool, checked.nodes().getFirst(), checked.nodes().getLast());
        }
        return both(region);
    }

    private boolean areMirrored(String region) throws IOException {
        try (RemoteMemory.Region one = first.open(region);
                RemoteMemory.Region other = second.open(secondRegion)) {
            return areMirrored(MirrorNode.head(one), MirrorNode.head(other));
        }
    }

    private static boolean areMirrored(MemorySegment one, MemorySegment other) {
        long mark = one.get(LONG, PoolHead.MIRROR_AT);
        return mark != 0 && mark == other.get(LONG, PoolHead.MIRROR_AT);
    }

    private MirroredRegion both(String region) throws IOException {
        RemoteMemory.Region one = first.open(region);
        RemoteMemory.Region other = null;
        boolean opened = false;
        try {
            other = second.open(secondRegion);
            MemorySegment head = MirrorNode.head(one);
            MemorySegment headOfOther = MirrorNode.head(other);
            if (!areMirrored(head, headOfOther)) {
                throw new RemoteMemoryException(one.name(), "was opened without " + other.name() + " at this moment");
            }
            MirroredRegion both = new MirroredRegion(new MirrorNode(one, head), new MirrorNode(other, headOfOther));
            opened = true;
            return both;
        } finally {
            if (!opened) {
                one.close();
                if (other != null) {
                    other.close();
                }
            }
        }
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }

    private record Alone(RemoteMemory memory) implements RemoteMemory {
        @Override
        public RemoteMemory.Region open(String region) throws IOException {
            RemoteMemory.Region opened = memory.open(region);
            boolean isAlone = false;
            try {
                if (MirrorNode.head(opened).get(LONG, PoolHead.MIRROR_AT) != 0) {
                    clearMark(opened);
                }
                isAlone = true;
                return opened;
            } finally {
                if (!isAlone) {
                    opened.close();
                }
            }
        }

        private static void clearMark(RemoteMemory.Region region) throws RemoteMemoryException {
            MemorySegment none = Arena.ofAuto().allocate(Long.BYTES, 8);
            try {
                region.put(List.of(new RemoteMemory.Region.Transfer(PoolHead.MIRROR_AT, none)))
                        .join();
            } catch (CompletionException failed) {
                throw OpenPool.failure(region.name(), failed);
            }
        }

        @Override
        public void close() {
            memory.close();
        }
    }
}
