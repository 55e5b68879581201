package io.github.roost.index.remote.update;

import io.github.roost.index.remote.format.PoolHead;
import java.util.ArrayList;
import java.util.List;

/**
 * A writer's record of the readers' holds, by repeated looks and its own clock: a hold whose words stand still for a lease is dead. Reads no
 * clock and no memory itself; used by one thread at a time.
 */
final class ReaderHolds {
    private final long leaseNanos;
    private final Seen[] seen = new Seen[PoolHead.READERS];

    private record Seen(long owner, long word, long nanos) {}

    /** The hold of a dead reader. */
    record Dead(int slot, long owner) {}

    /**
     * The result of a look.
     *
     * @param oldest the oldest epoch held by a live reader, {@link Long#MAX_VALUE} if there is none
     * @param dead readers whose holds have ended; they do not count
     */
    record Look(long oldest, List<Dead> dead) {}

    ReaderHolds(long leaseNanos) {
        this.leaseNanos = leaseNanos;
    }

    /**
     * Compares the words with the last look. A hold stands still from when its words had been read to when they were requested again: a read may
     * be slow, and this thread may be stopped before or after it.
     *
     * @param words owner and word of each hold
     * @param requestedNanos when the words were requested, in nanoseconds of a monotonic clock
     * @param nowNanos a time after they had been read
     */
    Look look(long[] words, long requestedNanos, long nowNanos) {
        long oldest = Long.MAX_VALUE;
        List<Dead> dead = new ArrayList<>();
        for (int slot = 0; slot < seen.length; slot++) {
            long owner = words[2 * slot];
            long word = words[2 * slot + 1];
            Seen before = seen[slot];
            if (before == null || before.owner() != owner || before.word() != word) {
                before = new Seen(owner, word, nowNanos);
                seen[slot] = before;
            }
            if (owner == 0) {
                continue;
            }
            if (requestedNanos - before.nanos() > leaseNanos) {
                dead.add(new Dead(slot, owner));
            } else {
                oldest = Math.min(oldest, word >>> Integer.SIZE);
            }
        }
        return new Look(oldest, dead);
    }
}
