package io.github.roost.core.placement;

import io.github.roost.core.mapping.Mapping;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A published mapping and the count of tasks dispatched under it that have not finished.
 *
 * <p>Entries and exits are counted apart, each in several lanes on cache lines of their own, so that threads that use
 * different lanes do not slow each other. All counters only grow. {@link #inside} reads every exit before any entry: if the sums are equal then, at the moment
 * between the two passes, the number of exits was at least what was read and the number of entries at most what was
 * read, and exits never exceed entries, so both were equal and nobody was inside.
 *
 * <p>A dispatcher enters and then checks that the epoch is still the current one; if not, it leaves and tries the next.
 * So after {@link #supersede} only such passers-by enter, and since every exit after it checks {@link #inside}, the last
 * one to leave finds the epoch drained.
 */
public final class Epoch {
    /** Longs from one counter to the next: two cache lines, since processors fetch lines in pairs. */
    private static final int STRIDE = 16;

    private final Mapping mapping;
    private final int lanes;
    private final AtomicLongArray entries;
    private final AtomicLongArray exits;
    private final CompletableFuture<Void> retired = new CompletableFuture<>();
    /** Written once, by the thread that publishes the next epoch: what to do when this one is drained. */
    private volatile @Nullable Runnable whenDrained;
    /** Set once by whoever finds it so. */
    private volatile boolean drained;

    /** @param lanes how many threads may count without sharing a cache line, a power of two */
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
     * @param lane any number; threads that run at the same time best use different ones
     */
    public void enter(long lane, int tasks) {
        entries.getAndAdd(index(lane), tasks);
    }

    /** Counts {@code tasks} tasks out, on any lane. */
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

    /** Retires what is drained once more, where an error has kept {@link #exit} from it. */
    public void retireAgain() {
        Runnable then = whenDrained;
        if (then != null) {
            noteDrained();
            then.run();
        }
    }

    /** Whether it is superseded and its last task has finished. */
    boolean isDrained() {
        return drained;
    }

    /** Called once it and all epochs before it are drained. */
    void retire() {
        retired.complete(null);
    }

    /** Completes once the epoch is superseded and its last task, and the last of all epochs before, has finished. */
    public CompletableFuture<Void> retired() {
        return retired;
    }

    /** Tasks inside; exact when it is zero and no new ones enter. */
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
