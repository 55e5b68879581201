package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The epoch in force and the earlier epochs that have not retired. Epochs retire in order, in a loop: a chain of futures would be as deep
 * as the number of epochs behind one slow search. Thread-safe, except {@link #publish}.
 *
 * <p>A thread that finds an epoch drained marks it, and then retires living epochs from the oldest on while they are marked. Of two threads
 * that do so at once, the later to mark sees both marks, so no drained epoch is left behind.
 */
public final class Epochs {
    private static final int MIN_LANES = 8;
    /** Bounds the memory of an epoch to 16 KiB; with more workers, workers share lanes. */
    private static final int MAX_LANES = 64;

    private final ConcurrentSkipListMap<Long, Epoch> living = new ConcurrentSkipListMap<>();
    private final int lanes;
    private volatile Epoch current;

    /**
     * @param first the mapping of epoch 0
     * @param workers the number of workers
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
     * Puts a mapping in force under the next epoch. Returns the previous epoch, which the caller must {@linkplain #letRetire let retire}
     * when it holds no lock. Callers must hold a common lock.
     */
    public Epoch publish(Mapping mapping) {
        Epoch before = current;
        Epoch next = new Epoch(mapping.withEpoch(before.mapping().epoch() + 1), lanes);
        living.put(next.mapping().epoch(), next);
        current = next;
        return before;
    }

    /**
     * Lets a superseded epoch retire; at once if it is drained. Users' code that waits for this runs in the calling thread. To be called
     * once per epoch, in any order.
     */
    public void letRetire(Epoch before) {
        before.supersede(this::retireDrained);
    }

    private void retireDrained() {
        Map.Entry<Long, Epoch> oldest = living.firstEntry();
        while (oldest != null && oldest.getValue().isDrained()) {
            // Retire before removal: after an error in the removal the epoch is still found and removed later.
            oldest.getValue().retire();
            living.remove(oldest.getKey(), oldest.getValue());
            oldest = living.firstEntry();
        }
    }

    /** Returns a future that completes when the epoch has retired. */
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

    /** The number of tasks that were dispatched and have not finished. */
    public long unfinished() {
        return living.values().stream().mapToLong(Epoch::inside).sum();
    }
}
