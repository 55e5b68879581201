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

/** Pools that two nodes have, as {@link RemoteTable#mirrored} promises. */
final class MirroredMemory implements RemoteMemory {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final RemoteMemory first;
    private final RemoteMemory second;
    private final String secondRegion;

    MirroredMemory(RemoteMemory first, RemoteMemory second, String secondRegion) {
        this.first = Objects.requireNonNull(first, "first must not be null");
        this.second = Objects.requireNonNull(second, "second must not be null");
        this.secondRegion = Objects.requireNonNull(secondRegion, "secondRegion must not be null");
    }

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

    /** One node of mirrored pools, as {@link RemoteTable#alone} promises. */
    record Alone(RemoteMemory memory) implements RemoteMemory {
        @Override
        public RemoteMemory.Region open(String region) throws IOException {
            RemoteMemory.Region opened = memory.open(region);
            boolean isAlone = false;
            try {
                MemorySegment head = MirrorNode.head(opened);
                if (head.get(LONG, PoolHead.MIRROR_AT) != 0) {
                    // Nothing else is written to.
                    PoolHead.read(opened.name(), opened.bytes(), head);
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
