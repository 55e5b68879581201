package io.github.roost.core.pool;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.Priority;
import io.github.roost.core.SearchContext;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.SharedQueue.Entry;
import io.github.roost.core.spi.Indexing.GroupSearch.Group;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A task that serves a group of queries of a {@link SharedQueue}. Queries that are done or past their deadline are left out
 * individually. From the moment they are taken, all queries are linked in one chain, so that after any failure each of them is
 * answered. The parts of all queries are counted off only after the task has ended, so the continuation of one answer may wait
 * for another answer.
 */
final class GroupTask implements Stepper {
    private static final VarHandle CLAIMED;

    static {
        try {
            CLAIMED = MethodHandles.lookup().findVarHandle(GroupTask.class, "claimed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Written once, before the task is queued. */
    private @Nullable SharedQueue<?, ?> queue;

    private final Epoch epoch;
    private final Priority priority;
    /** The chain of queries taken out of the queue and not delivered; null for none. */
    private volatile @Nullable Entry taken;

    /** Whether it has taken its group, which may be empty. */
    private boolean begun;

    private @Nullable Members members;
    /** Total time of its slices so far; written by the thread that runs it. */
    private long ranNanos;

    private @Nullable Object work;
    private @Nullable Task next;
    private volatile @Nullable Parked parked;
    /** Written by the owner. */
    private boolean counted;
    /** Set once, by compare-and-set, by the thread that runs or fails the task first. */
    @SuppressWarnings("unused")
    private volatile boolean claimed;

    GroupTask(Epoch epoch, Priority priority) {
        this.epoch = epoch;
        this.priority = priority;
    }

    /** Sets the queue to serve; called before the task is queued. */
    GroupTask of(SharedQueue<?, ?> served) {
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
    public boolean claim() {
        return CLAIMED.compareAndSet(this, false, true);
    }

    @Override
    public boolean isClaimed() {
        return claimed;
    }

    @Override
    public After run(TaskContext context) {
        boolean first = members == null;
        if (first) {
            take();
            int left = leaveOut(context.startNanos());
            if (left == 0) {
                context.finished(Outcome.CANCELLED);
                return After.ENDED;
            }
            Faults.point();
            members = new Members(members(left));
            work = (Search<Object, Boolean>) this::first;
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

    /** A single assignment, so that no query is out of the queue and not in the chain. */
    private void take() {
        taken = queue().take(priority);
        begun = true;
    }

    /** Ends the queries that are done or past their deadline; returns the number of the remaining ones. */
    private int leaveOut(long now) {
        int left = 0;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            Stepper task = entry.join.task();
            if (task.abandoned()) {
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
        if (!begun) {
            // The queue counts on this task to take a group.
            take();
        }
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
        work = null;
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

    @Override
    public @Nullable Object work() {
        return work;
    }

    @Override
    public void work(Object then) {
        work = then;
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
    public TableUse use() {
        return queue().use();
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
    public long parkedDeadlineNanos() {
        long earliest = NO_DEADLINE;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            long deadline = entry.join.task().deadlineNanos();
            if (!entry.ended && deadline != NO_DEADLINE && (earliest == NO_DEADLINE || deadline - earliest < 0)) {
                earliest = deadline;
            }
        }
        return earliest;
    }

    /** Fails the expired queries now, since the bytes that the group waits for may never arrive. */
    @Override
    public boolean staysParked(long now) {
        boolean anyLeft = false;
        for (Entry entry = taken; entry != null; entry = entry.next) {
            Stepper task = entry.join.task();
            if (!entry.ended && task.expired(now)) {
                entry.ended = true;
                task.failRequest(new DeadlineExceededException(now - task.deadlineNanos()));
            }
            anyLeft |= !entry.ended;
        }
        return anyLeft;
    }

    @Override
    public boolean countsAsSearch() {
        boolean first = !counted;
        counted = true;
        return first;
    }

    /** Cancellation is per query; the rest of the group is served. */
    @Override
    public boolean abandoned() {
        return false;
    }

    @Override
    public boolean isUnneeded() {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            if (!entry.ended && !entry.join.task().isUnneeded()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public @Nullable Task next() {
        return next;
    }

    @Override
    public void next(@Nullable Task task) {
        next = task;
    }

    @Override
    public @Nullable Parked parked() {
        return parked;
    }

    @Override
    public void parked(Parked now) {
        boolean first = parked == null;
        parked = now;
        if (first) {
            for (Entry entry = taken; entry != null; entry = entry.next) {
                if (!entry.ended) {
                    Parked.resumeWhenUnneeded(entry.join.task(), this);
                }
            }
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
                    || task.abandoned()
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
