package io.github.roost.core.spi;

import io.github.roost.core.TableClosedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Counts the users of a table, so that the memory of a closed table is freed when no thread reads it. Users are maintenance, from
 * acceptance until it has ended, threads that have a {@link Hold}, and all tasks accepted before the table was closed together. Thread-safe.
 *
 * <p>Entries and exits only grow, and are counted in lanes on separate cache lines. {@link #inside} reads every exit before
 * any entry, so if the sums are equal, no user was inside between the two passes. A user first increments the entries and then
 * reads the state; the closer first sets the state and then reads the counts, so at least one of them sees the other. The last
 * user to leave a closed table sets the state to ended and reads the counts again. A user that entered in between shows in these
 * counts and ends the table when it leaves; a later user sees that the table has ended and leaves at once.
 */
public final class TableUse {
    private static final int LANES = 16;
    /** Longs per lane: one cache line. */
    private static final int STRIDE = 8;

    /** Any user may enter. */
    private static final int OPEN = 0;
    /** Only users that belong to a user inside may enter. */
    private static final int CLOSED = 1;
    /** No user may enter. */
    private static final int ENDED = 2;

    private final String table;
    private final AtomicLongArray entries = new AtomicLongArray((LANES + 1) * STRIDE);
    private final AtomicLongArray exits = new AtomicLongArray((LANES + 1) * STRIDE);
    private final AtomicInteger state = new AtomicInteger(OPEN);
    /** Whether a thread has undertaken to free the table's memory. */
    private final AtomicBoolean frees = new AtomicBoolean();

    private final CompletableFuture<Void> unused = new CompletableFuture<>();
    private final CompletableFuture<Void> freed = new CompletableFuture<>();

    /**
     * For an open table without users.
     *
     * @param table the table's name, for messages
     */
    public TableUse(String table) {
        this.table = table;
    }

    /** One use of a table; whoever has it must close it, once. */
    public final class Hold implements AutoCloseable {
        private final long lane;

        private Hold(long lane) {
            this.lane = lane;
        }

        @Override
        public void close() {
            exit(lane);
        }
    }

    /**
     * Counts a user in, unless the table is closed.
     *
     * @param lane any number; concurrent threads should use different lanes
     * @throws TableClosedException if the table is closed
     */
    public void enter(long lane) {
        enter(lane, OPEN);
    }

    /**
     * Counts a user in that may belong to another user, such as a part of a search that was accepted before the table was closed.
     *
     * @param lane as in {@link #enter}
     * @throws TableClosedException if the table is closed and had no user left
     */
    public void enterFromInside(long lane) {
        enter(lane, CLOSED);
    }

    private void enter(long lane, int last) {
        entries.getAndIncrement(index(lane));
        if (state.get() > last) {
            exit(lane);
            throw new TableClosedException(table);
        }
    }

    /**
     * Counts a user out. Allocates nothing.
     *
     * @param lane any number
     */
    public void exit(long lane) {
        exits.getAndIncrement(index(lane));
        if (state.get() != OPEN) {
            endIfUnused();
        }
    }

    private static int index(long lane) {
        return (1 + ((int) lane & (LANES - 1))) * STRIDE;
    }

    /**
     * Counts this thread as a user of the table until the hold is closed.
     *
     * @return the hold, to be closed by this thread
     * @throws TableClosedException if the table is closed
     */
    public Hold hold() {
        long lane = Thread.currentThread().threadId();
        enter(lane);
        return new Hold(lane);
    }

    /**
     * As {@link #hold}, for a thread that runs work accepted before the table was closed.
     *
     * @return the hold, to be closed by this thread
     * @throws TableClosedException if the table is closed and had no user left
     */
    public Hold holdFromInside() {
        long lane = Thread.currentThread().threadId();
        enterFromInside(lane);
        return new Hold(lane);
    }

    /**
     * Closes the table to new users.
     *
     * @return the last hold, by which the table is still used: to be closed, by any thread, when the tasks that were accepted before have
     *     ended; null if the table was closed already
     */
    public @Nullable Hold close() {
        long lane = Thread.currentThread().threadId();
        entries.getAndIncrement(index(lane));
        if (state.compareAndSet(OPEN, CLOSED)) {
            return new Hold(lane);
        }
        exit(lane);
        return null;
    }

    /** Ends a closed table that has no user left. Idempotent. */
    private void endIfUnused() {
        if (state.get() != OPEN && inside() == 0) {
            state.set(ENDED);
            if (inside() == 0) {
                unused.complete(null);
            }
        }
    }

    /** The number of users inside; exact if it is zero and no user enters meanwhile. */
    private long inside() {
        long left = sum(exits);
        return sum(entries) - left;
    }

    private static long sum(AtomicLongArray counts) {
        long sum = 0;
        for (int i = STRIDE; i < counts.length(); i += STRIDE) {
            sum += counts.get(i);
        }
        return sum;
    }

    /** {@return whether this is the first call: whoever makes it frees the table's memory} */
    public boolean freesNow() {
        return frees.compareAndSet(false, true);
    }

    /** {@return a future that completes when the table is closed and its last user has left} */
    public CompletableFuture<Void> unused() {
        return unused;
    }

    /** {@return a future that is completed by the thread that frees the table's memory} */
    public CompletableFuture<Void> freed() {
        return freed;
    }
}
