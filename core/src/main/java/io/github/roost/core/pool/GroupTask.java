package io.github.roost.core.pool;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.SharedQueue.Entry;
import io.github.roost.core.task.DeadlineExceededException;
import io.github.roost.core.task.GroupSearch.Group;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.TableUse;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Serves a group of the queries that wait in a {@link SharedQueue}. Those that are over or too late are left out, each by itself. All
 * that it has taken hang on one chain, from the first moment on, so that whatever fails they are answered: a query's part is
 * counted off when the task has ended, first those of all queries, so that what follows one answer may wait for another.
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
    /** What was taken out of the queue; null before. */
    private volatile @Nullable Entry taken;

    /** Whether it has taken a group, be it of none: others have their own tasks. */
    private boolean begun;

    private @Nullable Members members;
    /** What its slices have taken so far; written by who runs it. */
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

    /** Serves this queue; called before it is queued itself. */
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
        if (over()) {
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

    /** One assignment: what is out of the queue is on the chain. */
    private void take() {
        taken = queue().take(priority);
        begun = true;
    }

    /** Ends those that nobody waits for, or that come too late; how many are left. */
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
            // A group of those who have joined counts on this task.
            take();
        }
        failRequest(cause);
    }

    /** Those who wait are told at once; the task that runs finds out. */
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
            // From here on the entry is behind us: a failure further down cannot count it off twice.
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

    /** Each query has its own. */
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

    /** The late ones are answered now: what they wait for may never come. */
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

    /** Each query may be; those that are left are served. */
    @Override
    public boolean abandoned() {
        return false;
    }

    @Override
    public boolean over() {
        for (Entry entry = taken; entry != null; entry = entry.next) {
            if (!entry.ended && !entry.join.task().over()) {
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
                    Parked.whenOver(entry.join.task(), this);
                }
            }
        }
    }

    /** The group as its search sees it. */
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
        @SuppressWarnings("NullAway") // a query is what its caller passed
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
