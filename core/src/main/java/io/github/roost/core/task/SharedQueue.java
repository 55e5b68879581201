package io.github.roost.core.task;

import io.github.roost.core.MappingId;
import io.github.roost.core.Priority;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.TableUse;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The batch queue of one mapping id: waiting queries per priority, oldest first. Each group is served by its own
 * {@link GroupTask}, so several workers can serve one queue at once; {@link GroupRule} determines the size of groups and when a
 * task is queued. Taking a group allocates nothing. Thread-safe.
 */
public final class SharedQueue<Q, R> implements Indexing.BatchQueue<Q, R> {
    /** A query in the queue or in a group; used by one thread at a time. */
    public static final class Entry {
        final Join join;
        final int index;
        final @Nullable Object query;

        /** The next query of the same group. */
        @Nullable
        Entry next;

        /** Whether the query was answered, failed or left out; then only {@link #result} or {@link #failure} is to be delivered. */
        boolean ended;

        @Nullable
        Object result;

        @Nullable
        Throwable failure;

        /** Whether its failure by the deadline is on its way. */
        private volatile boolean isTold;

        public Entry(Join join, int index, @Nullable Object query) {
            this.join = join;
            this.index = index;
            this.query = query;
        }

        /** Fails the query if its deadline has passed; whether it has a deadline and waits on. Any thread. */
        boolean endOverdue(long now, Consumer<Runnable> deliver) {
            Stepper task = join.task();
            if (isTold || task.deadlineNanos() == Task.NO_DEADLINE || task.isUnneeded()) {
                return false;
            }
            boolean late = now != Long.MIN_VALUE && task.expired(now);
            if (late) {
                isTold = true;
                deliver.accept(() -> task.failRequest(Stepper.late(task, now - task.deadlineNanos())));
            }
            return !late;
        }
    }

    /**
     * The queries of one priority. One word holds the number of waiting queries and of tasks queued for them, and changes by
     * compare-and-set. An entry is added before it is counted and polled after it is counted off, so a thread that has counted
     * off n entries finds n. Invariant: if queries are counted, so is at least one task, since the thread that counts the first
     * query queues a task, and the last task takes all queries.
     */
    private static final class Lane {
        private static final long QUERY = 1L << Integer.SIZE;
        private static final long TASK = 1;

        private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
        /** The clock at the last look for overdue queries, and its result. */
        private volatile long lastLook = Long.MIN_VALUE;

        private volatile boolean leftAtLastLook;
        /** Whether the last look found a query whose request waits for an answer. */
        private volatile boolean liveAtLastLook;

        private final AtomicLong counts = new AtomicLong();

        private static int queries(long counts) {
            return (int) (counts / QUERY);
        }

        private static int tasks(long counts) {
            return (int) (counts % QUERY);
        }

        /** Adds a query; returns whether the caller must queue a task. */
        boolean join(Entry entry, int size) {
            entries.add(entry);
            while (true) {
                long before = counts.get();
                boolean needsTask = GroupRule.needsTask(queries(before) + 1, tasks(before), size);
                if (counts.compareAndSet(before, before + QUERY + (needsTask ? TASK : 0))) {
                    return needsTask;
                }
            }
        }

        boolean nextNeedsTask(int size) {
            long now = counts.get();
            return GroupRule.needsTask(queries(now) + 1, tasks(now), size);
        }

        int waiting() {
            return queries(counts.get());
        }

        /** For a queued task: counts off its share of the queries; returns the number that the caller must {@link #poll}. */
        int takeAsTask() {
            while (true) {
                long before = counts.get();
                int count = GroupRule.taken(queries(before), tasks(before));
                if (counts.compareAndSet(before, before - count * QUERY - TASK)) {
                    return count;
                }
            }
        }

        /** For a task of the other priority: counts off at most {@code room} queries; returns the number to {@link #poll}. */
        int takeAsGuest(int room) {
            while (true) {
                long before = counts.get();
                int count = Math.min(queries(before), room);
                if (count == 0 || counts.compareAndSet(before, before - count * QUERY)) {
                    return count;
                }
            }
        }

        /** The number of waiting queries whose request has not ended. */
        int live() {
            int live = 0;
            for (Entry entry : entries) {
                live += entry.join.task().isUnneeded() ? 0 : 1;
            }
            return live;
        }

        Entry poll() {
            Entry entry = entries.poll();
            if (entry == null) {
                throw new IllegalStateException("fewer queries wait than were counted");
            }
            return entry;
        }
    }

    private final MappingId mappingId;
    private final Indexing.GroupSearch<Q, R> search;
    private final GroupRule rule;
    private final Lane interactive = new Lane();
    private final Lane batch = new Lane();

    /** Mean time per query in a group. Updates are not atomic: a lost update does no harm. */
    private volatile long nanosPerQuery;

    public SharedQueue(MappingId mappingId, Indexing.GroupSearch<Q, R> search, GroupRule rule) {
        this.mappingId = mappingId;
        this.search = search;
        this.rule = rule;
    }

    @Override
    public MappingId mappingId() {
        return mappingId;
    }

    @Override
    public int waiting() {
        return interactive.waiting() + batch.waiting();
    }

    /** Whether as many queries wait as may; queries that have ended do not count. */
    public boolean isFull(int capacity) {
        return waiting() >= capacity && interactive.live() + batch.live() >= capacity;
    }

    /** Fails the waiting queries of a priority whose deadline has passed; whether one with a deadline is left. Any thread. */
    boolean endOverdue(Priority priority, long now, Consumer<Runnable> deliver) {
        Lane lane = lane(priority);
        // Asked by each of the tasks that are queued for the lane, in one look.
        if (now == lane.lastLook && now != Long.MIN_VALUE) {
            return lane.leftAtLastLook;
        }
        boolean left = false;
        boolean live = false;
        for (Entry entry : lane.entries) {
            left |= entry.endOverdue(now, deliver);
            live |= !entry.isTold && !entry.join.task().isUnneeded();
        }
        lane.leftAtLastLook = left;
        lane.liveAtLastLook = live;
        lane.lastLook = now;
        return left;
    }

    /** Whether the last look for overdue queries found one of a priority that is to be answered. Any thread. */
    boolean wasLive(Priority priority) {
        return lane(priority).liveAtLastLook;
    }

    public TableUse use() {
        return mappingId.registration().use();
    }

    Indexing.GroupSearch<Q, R> search() {
        return search;
    }

    private Lane lane(Priority priority) {
        return priority == Priority.INTERACTIVE ? interactive : batch;
    }

    /** Whether a query that joins now is likely to need a task; may change before it joins. */
    public boolean nextNeedsTask(Priority priority, boolean workersFree) {
        return lane(priority).nextNeedsTask(rule.size(nanosPerQuery, workersFree));
    }

    /**
     * Adds a query; returns whether the caller must queue a task that {@linkplain #take takes} a group.
     *
     * @param workersFree whether any worker has nothing to do
     */
    public boolean join(Priority priority, Entry entry, boolean workersFree) {
        return lane(priority).join(entry, rule.size(nanosPerQuery, workersFree));
    }

    /**
     * Takes a group for a queued task, oldest query first; null if other tasks have taken all queries. A group of interactive
     * queries with room left also takes batch queries, but not the other way round.
     */
    @Nullable
    Entry take(Priority priority) {
        Lane own = lane(priority);
        int count = own.takeAsTask();
        int room = rule.size(nanosPerQuery, false) - count;
        int guests = own == interactive && room > 0 ? batch.takeAsGuest(room) : 0;
        Entry first = null;
        Entry last = null;
        for (int i = 0; i < count + guests; i++) {
            Entry entry = i < count ? own.poll() : batch.poll();
            if (last == null) {
                first = entry;
            } else {
                last.next = entry;
            }
            last = entry;
        }
        return first;
    }

    /** Records the time that a group took. */
    void served(long nanos, int queries) {
        nanosPerQuery = GroupRule.measured(nanosPerQuery, nanos, queries);
    }
}
