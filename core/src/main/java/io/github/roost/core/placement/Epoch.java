package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A published mapping and the count of tasks dispatched under it that have not finished.
 *
 * <p>Entries and exits are counted separately, each in several lanes on different cache lines, so that threads on different lanes do not contend.
 * All counters only grow. {@link #inside} reads all exits before any entry. Between the two passes, the number of exits was at least the sum read,
 * and the number of entries at most the sum read. Exits never exceed entries; so if the sums are equal, both numbers were equal, and no task was
 * inside.
 *
 * <p>A dispatcher enters and then checks that the epoch is still the current one; if not, it leaves and tries the next. So after {@link #supersede}
 * only such transient entries occur, and since every later exit checks {@link #inside}, the last one finds the epoch drained.
 */
public final class Epoch {
    /** Longs from one counter to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    private final Mapping mapping;
    private final int lanes;
    private final AtomicLongArray entries;
    private final AtomicLongArray exits;
    private final CompletableFuture<Void> retired = new CompletableFuture<>();
    /** Run when the epoch is drained. Written once, by the thread that publishes the next epoch. */
    private volatile @Nullable Runnable whenDrained;
    /** Set by the thread that finds the epoch drained. */
    private volatile boolean drained;

    /** @param lanes number of lanes, a power of two */
    Epoch(Mapping mapping, int lanes) {
        this.mapping = mapping;
        this.lanes = lanes;
        this.entries = new AtomicLongArray((lanes + 1) * STRIDE);
        this.exits = new AtomicLongArray((lanes + 1) * STRIDE);
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

    /** Counts {@code tasks} tasks out, in any lane. */
    public void exit(long lane, int tasks) {
        exits.getAndAdd(index(lane), tasks);
        noteDrained();
    }

    private int index(long lane) {
        return (1 + ((int) lane & (lanes - 1))) * STRIDE;
    }

    /** Called once, after the next epoch has been published; {@code then} may run more than once, on any thread. */
    void supersede(Runnable then) {
        whenDrained = then;
        noteDrained();
    }

    private void noteDrained() {
        Runnable then = whenDrained;
        if (then != null && !drained && inside() == 0) {
            drained = true;
            then.run();
        }
    }

    /** Retires drained epochs again, after an error has kept {@link #exit} from it. */
    public void retireAgain() {
        Runnable then = whenDrained;
        if (then != null) {
            noteDrained();
            then.run();
        }
    }

    /** Whether the epoch is superseded and its last task has finished. */
    boolean isDrained() {
        return drained;
    }

    /** Called when this and all earlier epochs are drained. */
    void retire() {
        retired.complete(null);
    }

    /** Completes when the epoch is superseded and all tasks of it and of all earlier epochs have finished. */
    public CompletableFuture<Void> retired() {
        return retired;
    }

    /** The number of tasks inside; exact if it is zero and no new tasks enter. */
    public long inside() {
        long left = sum(exits);
        return sum(entries) - left;
    }

    private static long sum(AtomicLongArray counters) {
        long sum = 0;
        for (int i = 0; i < counters.length(); i += STRIDE) {
            sum += counters.get(i);
        }
        return sum;
    }
}
