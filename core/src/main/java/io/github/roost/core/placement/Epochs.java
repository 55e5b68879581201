package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The epoch in force and the earlier epochs that have not retired. Epochs retire in order. Thread-safe, except {@link #publish}, whose callers hold a
 * common lock, and {@link #retireEmpty}, which one thread calls at a time.
 */
public final class Epochs {
    private static final int MIN_LANES = 8;
    /** Bounds the memory of an epoch; with more workers, submitters share lanes. */
    private static final int MAX_LANES = 64;

    private final ConcurrentSkipListMap<Long, Epoch> living = new ConcurrentSkipListMap<>();
    /** The futures that were given out and are not complete. */
    private final Set<CompletableFuture<Void>> awaited = ConcurrentHashMap.newKeySet();

    private final int lanes;
    private final int workers;
    private volatile Epoch current;

    /**
     * @param first the mapping of epoch 0
     * @param workers the number of workers
     */
    public Epochs(Mapping first, int workers) {
        this.lanes = Math.clamp(Integer.highestOneBit(2 * workers - 1), MIN_LANES, MAX_LANES);
        this.workers = workers;
        current = new Epoch(first.withEpoch(0), lanes, workers);
        living.put(0L, current);
    }

    /** The epoch that tasks are dispatched under. */
    public Epoch current() {
        return current;
    }

    /** Puts a mapping in force under the next epoch; returns the previous epoch, which retires when it is empty. */
    public Epoch publish(Mapping mapping) {
        Epoch before = current;
        Epoch next = new Epoch(mapping.withEpoch(before.mapping().epoch() + 1), lanes, workers);
        living.put(next.mapping().epoch(), next);
        current = next;
        return before;
    }

    /** Whether an epoch is superseded and has not retired. */
    public boolean anyToRetire() {
        Map.Entry<Long, Epoch> oldest = living.firstEntry();
        return oldest != null && oldest.getValue() != current;
    }

    /** Retires superseded epochs that are empty, from the oldest on. Users' code that waits for this runs in the calling thread. */
    public void retireEmpty() {
        Map.Entry<Long, Epoch> oldest = living.firstEntry();
        while (oldest != null
                && oldest.getValue() != current
                && oldest.getValue().inside() == 0) {
            living.remove(oldest.getKey(), oldest.getValue());
            oldest.getValue().retire();
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
        return waited == null ? CompletableFuture.completedFuture(null) : awaited(waited);
    }

    /** Returns a future that completes when an epoch has retired, or fails when the orchestrator is closed before. */
    @SuppressWarnings("CollectionUndefinedEquality") // by identity
    public CompletableFuture<Void> awaited(Epoch epoch) {
        // Completed in a thread of its own, since callbacks may block.
        CompletableFuture<Void> copy = new CompletableFuture<>();
        var _ = epoch.retired()
                .thenRun(() -> Thread.ofVirtual().name("roost-retired").start(() -> copy.complete(null)));
        awaited.add(copy);
        var _ = copy.whenComplete((none, failure) -> awaited.remove(copy));
        return copy;
    }

    /** Fails the futures that were given out and whose epochs have not retired; the epochs themselves still retire. */
    public void failAwaited(Throwable cause) {
        for (CompletableFuture<Void> open : awaited) {
            Thread.ofVirtual().name("roost-retired").start(() -> open.completeExceptionally(cause));
        }
    }

    /** The number of tasks that were dispatched and have not finished. */
    public long unfinished() {
        return living.values().stream().mapToLong(Epoch::inside).sum();
    }
}
