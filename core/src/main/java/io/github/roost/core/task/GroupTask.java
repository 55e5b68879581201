package io.github.roost.core.task;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Priority;
import io.github.roost.core.SearchContext;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.spi.Indexing.GroupSearch.Group;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.core.task.SharedQueue.Entry;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A task that serves a group of queries of a {@link SharedQueue}. Queries that are done or past their deadline are left out
 * individually. From the moment they are taken, all queries are linked in one chain, so that after any failure each of them is
 * answered. The parts of all queries are counted off only after the task has ended, so the continuation of one answer may wait
 * for another answer.
 */
public final class GroupTask extends InnerTask {
    /** Written once, before the task is queued. */
    private @Nullable SharedQueue<?, ?> queue;

    private final Epoch epoch;
    private final Priority priority;
    private final @Nullable TableUse use;
    /** The chain of queries taken out of the queue and not delivered; null for none. */
    private volatile @Nullable Entry taken;

    /** Whether it has taken its group, which may be empty; written by the owner after {@link #taken}. */
    private volatile boolean begun;

    private @Nullable Members members;
    /** Total time of its slices so far; written by the thread that runs it. */
    private long ranNanos;

    /** @param use the use of the queue's table that the task is counted in instead of the epoch; null for none */
    public GroupTask(Epoch epoch, Priority priority, @Nullable TableUse use) {
        this.epoch = epoch;
        this.priority = priority;
        this.use = use;
    }

    /** Sets the queue to serve; called before the task is queued. */
    public GroupTask of(SharedQueue<?, ?> served) {
        queue = served;
        return this;
    }

    private SharedQueue<?, ?> queue() {
        SharedQueue<?, ?> served = queue;
        if (served == null) {
            throw new IllegalStateException("a group task serves a queue");
        }
        return served;
    }

    @Override
    public After run(TaskContext context) {
        if (members == null) {
            takeGroup();
            // Not when the slice began: that may be when the task before ended, and callbacks have run since.
            int left = leaveOut(System.nanoTime());
            if (left == 0) {
                context.finished(Outcome.CANCELLED);
                return After.ENDED;
            }
            members = new Members(members(left));
            work((Search<Object, Boolean>) this::first);
        }
        if (isUnneeded()) {
            context.finished(Outcome.CANCELLED);
            return After.ENDED;
        }
        After after = Stepper.run(this, context);
        ranNanos += System.nanoTime() - context.startNanos();
        if (after == After.ENDED) {
            queue().served(ranNanos, group().size());
        }
        if (after == After.FORKED) {
            failRequest(new IllegalStateException("a group search must not fork"));
            context.finished(Outcome.FAILED);
            return After.ENDED;
        }
        return after;
    }

    /** Takes the group, unless that was done; by the owner. A single assignment, so that no query is out of the queue and not in the chain. */
    public void takeGroup() {
        if (!begun) {
            taken = queue().take(priority);
            begun = true;
        }
    }

    /** Ends the queries that are done or past their deadline; returns the number of the remaining ones. */
    private int leaveOut(long now) {
        int left = 0;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            Stepper task = entry.join.task();
            if (task.isUnneeded()) {
                entry.ended = true;
            } else if (task.expired(now)) {
                entry.ended = true;
                entry.failure = new DeadlineExceededException(now - task.deadlineNanos());
            } else {
                left++;
            }
        }
        return left;
    }

    private Entry[] members(int count) {
        Entry[] all = new Entry[count];
        int i = 0;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            if (!entry.ended) {
                all[i++] = entry;
            }
        }
        return all;
    }

    @SuppressWarnings("unchecked") // a queue's entries hold its queries
    private Step<Object, Boolean> first(Object ignored, SearchContext context) throws Exception {
        Step<?, ?> step = ((SharedQueue<Object, Object>) queue()).search().step(group(), context);
        return (Step<Object, Boolean>) step;
    }

    private Members group() {
        Members all = members;
        if (all == null) {
            throw new IllegalStateException("the group was not taken");
        }
        return all;
    }

    @Override
    public void fail(Throwable cause) {
        // The queue counts on this task to take a group.
        takeGroup();
        failRequest(cause);
    }

    /** Fails the requests at once; the running task finds them done. */
    @Override
    public void failRunning(Throwable cause) {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            entry.join.task().failRequest(cause);
        }
    }

    @Override
    public void failRequest(Throwable failure) {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            if (!entry.ended) {
                entry.ended = true;
                entry.failure = failure;
            }
        }
    }

    @Override
    public void done(@Nullable Object result) {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            entry.ended = true;
        }
    }

    @Override
    public void deliver(Consumer<Task> goesOn) {
        forgetWork();
        members = null;
        Entry entry = taken;
        while (entry != null) {
            Entry following = entry.next;
            // Unlink the entry first, so that delivery after an error cannot count it off twice.
            taken = following;
            entry.join.result(entry.index, entry.result);
            if (entry.failure != null) {
                entry.join.fail(entry.failure);
            }
            entry.join.countOff(1, goesOn);
            entry = following;
        }
    }

    /** The group is the query of its steps. */
    @Override
    public @Nullable Object query() {
        return members;
    }

    @Override
    public int slot() {
        return queue().mappingId().slot();
    }

    @Override
    public Epoch epoch() {
        return epoch;
    }

    @Override
    public @Nullable TableUse use() {
        return use;
    }

    @Override
    public Priority priority() {
        return priority;
    }

    @Override
    public long submittedNanos() {
        return NOT_TIMED;
    }

    /** The deadline is per query. */
    @Override
    public long deadlineNanos() {
        return NO_DEADLINE;
    }

    @Override
    public boolean hasDeadline() {
        return endOverdue(Long.MIN_VALUE, answer -> {});
    }

    /**
     * Fails the queries of the group whose deadline has passed, since the group may wait for long; before it has begun, those of its queue. Any thread.
     *
     * @param now {@link System#nanoTime()}
     * @param deliver runs each answer
     * @return whether a query with a deadline is left
     */
    public boolean endOverdue(long now, Consumer<Runnable> deliver) {
        if (!begun) {
            return queue().endOverdue(priority, now, deliver);
        }
        boolean left = false;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            left |= !entry.ended && entry.endOverdue(now, deliver);
        }
        return left;
    }

    /** Whether the last {@link #endOverdue} found no query that is to be answered. Any thread. */
    public boolean wasUnneeded() {
        return begun ? isUnneeded() : !queue().wasLive(priority);
    }

    /** Takes the group, by the owner, in place of running it; whether no query in it is to be answered. Else it must still run. */
    public boolean takeUnneeded() {
        takeGroup();
        return leaveOut(System.nanoTime()) == 0;
    }

    /** Cancellation is per query; the rest of the group is served. */
    @Override
    public boolean isUnneeded() {
        if (!begun) {
            return false;
        }
        for (Entry entry = taken; entry != null; entry = entry.next) {
            if (!entry.ended && !entry.join.task().isUnneeded()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void forEachRequest(Consumer<Request<?, ?>> each) {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            entry.join.request(each);
        }
    }

    /** The view of the group that is passed to its search. */
    private static final class Members implements Group<Object, Object> {
        private final Entry[] entries;

        Members(Entry[] entries) {
            this.entries = entries;
        }

        @Override
        public int size() {
            return entries.length;
        }

        @Override
        @SuppressWarnings("NullAway") // null only if the caller submitted null
        public Object query(int index) {
            return entries[index].query;
        }

        @Override
        public boolean expired(int index) {
            Entry entry = entries[index];
            Stepper task = entry.join.task();
            return entry.ended
                    || task.isUnneeded()
                    || (task.deadlineNanos() != NO_DEADLINE && task.expired(System.nanoTime()));
        }

        @Override
        public void answer(int index, Object result) {
            Entry entry = entries[index];
            if (!entry.ended) {
                entry.ended = true;
                entry.result = result;
            }
        }

        @Override
        public void fail(int index, Throwable failure) {
            if (failure == null) {
                throw new NullPointerException("failure must not be null");
            }
            Entry entry = entries[index];
            if (!entry.ended) {
                entry.ended = true;
                entry.failure = failure;
            }
        }
    }
}
