package io.github.roost.index.remote;

import java.util.ArrayList;
import java.util.List;

/**
 * What a writer knows of the readers' holds by looking at them now and then, by its own clock: one whose words have stood still for a
 * lease is dead. Knows no clock and no memory; used by one thread at a time.
 */
final class ReaderHolds {
    private final long leaseNanos;
    private final Seen[] seen = new Seen[PoolHead.READERS];

    private record Seen(long owner, long word, long nanos) {}

    /** The hold of a reader that is dead. */
    record Dead(int slot, long owner) {}

    /**
     * What a look has found.
     *
     * @param oldest the oldest epoch that a reader holds, {@link Long#MAX_VALUE} where none holds any
     * @param dead readers whose holds have ended; they do not count
     */
    record Look(long oldest, List<Dead> dead) {}

    ReaderHolds(long leaseNanos) {
        this.leaseNanos = leaseNanos;
    }

    /**
     * Takes note of the words.
     *
     * @param words owner and word of each hold
     * @param now in nanoseconds of any clock that goes on
     */
    Look look(long[] words, long now) {
        long oldest = Long.MAX_VALUE;
        List<Dead> dead = new ArrayList<>();
        for (int slot = 0; slot < seen.length; slot++) {
            long owner = words[2 * slot];
            long word = words[2 * slot + 1];
            Seen before = seen[slot];
            if (before == null || before.owner() != owner || before.word() != word) {
                before = new Seen(owner, word, now);
                seen[slot] = before;
            }
            if (owner == 0) {
                continue;
            }
            if (now - before.nanos() > leaseNanos) {
                dead.add(new Dead(slot, owner));
            } else {
                oldest = Math.min(oldest, word >>> Integer.SIZE);
            }
        }
        return new Look(oldest, dead);
    }
}
