package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The epoch in force and those before it that have not retired. Epochs retire in order, one after the other in a loop: a
 * chain of futures would be as deep as there are epochs behind one slow search. Thread-safe, but for {@link #publish}.
 *
 * <p>Whoever finds an epoch drained marks it and then walks from the oldest living epoch while those are marked. Of two
 * that do so at once, at least the later to mark sees both marks, so no drained epoch is left behind.
 */
public final class Epochs {
    private static final int MIN_LANES = 8;
    /** Bounds the memory of an epoch at 16 KiB; beyond, workers share lanes. */
    private static final int MAX_LANES = 64;

    private final ConcurrentSkipListMap<Long, Epoch> living = new ConcurrentSkipListMap<>();
    private final int lanes;
    private volatile Epoch current;

    /**
     * @param first the mapping of epoch 0
     * @param workers how many threads count tasks out
     */
    public Epochs(Mapping first, int workers) {
        this.lanes = Math.clamp(Integer.highestOneBit(2 * workers - 1), MIN_LANES, MAX_LANES);
        current = new Epoch(first.withEpoch(0), lanes);
        living.put(0L, current);
    }

    /** The epoch that tasks are dispatched under. */
    public Epoch current() {
        return current;
    }

    /**
     * Puts a mapping in force under the next number; returns the epoch before, which the caller {@linkplain #letRetire lets
     * retire} once it holds no lock. Callers take turns.
     */
    public Epoch publish(Mapping mapping) {
        Epoch before = current;
        Epoch next = new Epoch(mapping.withEpoch(before.mapping().epoch() + 1), lanes);
        living.put(next.mapping().epoch(), next);
        current = next;
        return before;
    }

    /**
     * Lets an epoch retire that another is in force after: at once if it is drained. What waits for that is users' code and
     * runs in this thread. Once for each epoch, in any order.
     */
    public void letRetire(Epoch before) {
        before.supersede(this::retireDrained);
    }

    private void retireDrained() {
        Map.Entry<Long, Epoch> oldest = living.firstEntry();
        while (oldest != null && oldest.getValue().isDrained()) {
            // Retired first: an error in the removal must not leave one behind that nobody finds any more.
            oldest.getValue().retire();
            living.remove(oldest.getKey(), oldest.getValue());
            oldest = living.firstEntry();
        }
    }

    /** Completes once the epoch has retired, at once if it has. */
    public CompletableFuture<Void> retired(long epoch) {
        if (epoch < 0 || epoch > current.mapping().epoch()) {
            throw new IllegalArgumentException(
                    "epoch must be between 0 and " + current.mapping().epoch() + ", got " + epoch);
        }
        Epoch waited = living.get(epoch);
        return waited == null
                ? CompletableFuture.completedFuture(null)
                : waited.retired().copy();
    }

    /** Tasks that were dispatched and have not finished. */
    public long unfinished() {
        return living.values().stream().mapToLong(Epoch::inside).sum();
    }
}
