package io.github.roost.core.task;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the users of a table, so that its memory is freed once it is closed and no thread reads it: tasks from when they are
 * accepted until they have ended, and other threads while they hold a {@link Hold}. Thread-safe.
 *
 * <p>Entries and exits only grow, and are counted in lanes on cache lines of their own. {@link #inside} reads every exit before
 * any entry, so if the sums are equal no user was inside between the two passes. A user that enters counts first and then looks
 * at the state; the closer sets the state first and then looks at the counts: so one of them sees the other. The last to leave a
 * closed table ends it, and looks at the counts once more afterwards: a user that entered in between is seen there, and ends the
 * table when it leaves; a later user sees that the table has ended and leaves at once.
 */
public final class TableUse {
    private static final int LANES = 16;
    /** Longs from lane to lane: a cache line. */
    private static final int STRIDE = 8;

    /** Anybody may enter. */
    private static final int OPEN = 0;
    /** Those may who belong to somebody inside. */
    private static final int CLOSED = 1;
    /** Nobody may. */
    private static final int ENDED = 2;

    private final String table;
    private final AtomicLongArray entries = new AtomicLongArray((LANES + 1) * STRIDE);
    private final AtomicLongArray exits = new AtomicLongArray((LANES + 1) * STRIDE);
    private final AtomicInteger state = new AtomicInteger(OPEN);
    private final CompletableFuture<Void> unused = new CompletableFuture<>();
    private final CompletableFuture<Void> freed = new CompletableFuture<>();

    TableUse(String table) {
        this.table = table;
    }

    /** One thread's use of a table, ended by the same thread. */
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
     * @param lane any number; threads that run at the same time best use different ones
     * @throws TableClosedException if the table is closed
     */
    public void enter(long lane) {
        enter(lane, OPEN);
    }

    /**
     * Counts a user in that may belong to another one: a part of a search that was accepted before the table was closed.
     *
     * @param lane as of {@link #enter}
     * @throws TableClosedException if the table is closed and nobody was left in it
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
     * Counts a user out. Needs no memory.
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
     * Uses the table in this thread until the hold is closed.
     *
     * @return to be closed
     * @throws TableClosedException if the table is closed
     */
    public Hold hold() {
        long lane = Thread.currentThread().threadId();
        enter(lane);
        return new Hold(lane);
    }

    /**
     * As {@link #hold}, for a thread of work that was accepted before the table was closed.
     *
     * @return to be closed
     * @throws TableClosedException if the table is closed and nobody was left in it
     */
    public Hold holdFromInside() {
        long lane = Thread.currentThread().threadId();
        enterFromInside(lane);
        return new Hold(lane);
    }

    /** Lets nobody in any more; whether this is the first such call. */
    boolean close() {
        boolean first = state.compareAndSet(OPEN, CLOSED);
        if (first) {
            endIfUnused();
        }
        return first;
    }

    /** Ends a closed table that nobody uses; again without effect. */
    public void endIfUnused() {
        if (state.get() != OPEN && inside() == 0) {
            state.set(ENDED);
            if (inside() == 0) {
                unused.complete(null);
            }
        }
    }

    /** Users inside; exact when it is zero and nobody enters. */
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

    /** {@return completes once the table is closed and its last user has left} */
    public CompletableFuture<Void> unused() {
        return unused;
    }

    /** {@return completed by the thread that has freed the table's memory} */
    public CompletableFuture<Void> freed() {
        return freed;
    }
}
