package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A published mapping and the count of tasks dispatched under it that have not finished.
 *
 * <p>Entries and exits are counted separately, in lanes on different cache lines. Any thread counts by atomic addition in a lane of its choice; a
 * worker also has a lane of exits that it alone writes, by a plain addition. All counters only grow. {@link #inside} reads all exits before any
 * entry. Between the two passes, the number of exits was at least the sum read, and the number of entries at most the sum read. Exits never exceed
 * entries; so if the sums are equal, both numbers were equal, and no task was inside. An exit is a release and is read as an acquire, so whoever
 * finds the epoch empty also sees what its tasks have done.
 *
 * <p>A dispatcher enters and then checks that the epoch is still the current one; if not, it leaves and tries the next. So after the next epoch has been
 * published only such transient entries occur. An exit tells nobody: the mapper looks from time to time.
 */
public final class Epoch {
    /** Longs from one counter to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    private final Mapping mapping;
    private final int lanes;
    private final AtomicLongArray entries;
    private final AtomicLongArray exits;
    private final AtomicLongArray ownExits;
    private final CompletableFuture<Void> retired = new CompletableFuture<>();

    /**
     * @param lanes number of lanes, a power of two
     * @param workers number of workers
     */
    Epoch(Mapping mapping, int lanes, int workers) {
        this.mapping = mapping;
        this.lanes = lanes;
        this.entries = new AtomicLongArray((lanes + 1) * STRIDE);
        this.exits = new AtomicLongArray((lanes + 1) * STRIDE);
        this.ownExits = new AtomicLongArray((workers + 1) * STRIDE);
    }

    public Mapping mapping() {
        return mapping;
    }

    /**
     * Counts {@code tasks} tasks in.
     *
     * @param lane any number; concurrent threads should use different lanes
     */
    public void enter(long lane, int tasks) {
        entries.getAndAdd(index(lane), tasks);
    }

    /** Counts a task out, in any lane. */
    public void exit(long lane) {
        exits.getAndIncrement(index(lane));
    }

    /** Counts a task out in the lane of a worker, of which the caller is the only writer. */
    public void exitOwn(int worker) {
        int index = (1 + worker) * STRIDE;
        ownExits.setRelease(index, ownExits.getPlain(index) + 1);
    }

    private int index(long lane) {
        return (1 + ((int) lane & (lanes - 1))) * STRIDE;
    }

    /** Called when this and all earlier epochs are superseded and empty. */
    void retire() {
        retired.complete(null);
    }

    /** Completes when the epoch is superseded and all tasks of it and of all earlier epochs have finished. */
    public CompletableFuture<Void> retired() {
        return retired;
    }

    /** The number of tasks inside; exact if it is zero and no new tasks enter. */
    public long inside() {
        long left = sum(exits) + sum(ownExits);
        return sum(entries) - left;
    }

    private static long sum(AtomicLongArray counters) {
        long sum = 0;
        for (int i = STRIDE; i < counters.length(); i += STRIDE) {
            sum += counters.get(i);
        }
        return sum;
    }
}
