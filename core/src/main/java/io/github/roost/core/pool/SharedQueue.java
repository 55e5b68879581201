package io.github.roost.core.pool;

import io.github.roost.core.policy.GroupRule;
import io.github.roost.core.task.BatchQueue;
import io.github.roost.core.task.GroupSearch;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.TableUse;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The queries that wait for one mapping id, of each priority, oldest first. They are served in groups, each by a {@link GroupTask}
 * of its own, so that several workers serve one queue at once; {@link GroupRule} says how large a group is and who queues a task.
 * Taking needs no memory. Thread-safe.
 */
public final class SharedQueue<Q, R> implements BatchQueue<Q, R> {
    /** One query on its way; used by one thread at a time. */
    static final class Entry {
        final Join join;
        final int index;
        final @Nullable Object query;

        /** The next one of the group that has been taken. */
        @Nullable
        Entry next;

        /** Whether it was answered, failed or left out; then only {@link #result} or {@link #failure} is left to deliver. */
        boolean ended;

        @Nullable
        Object result;

        @Nullable
        Throwable failure;

        Entry(Join join, int index, @Nullable Object query) {
            this.join = join;
            this.index = index;
            this.query = query;
        }
    }

    /**
     * The queries of one priority. One word counts those that wait and the tasks that are queued for them, and changes by
     * compare-and-set. An entry is in the queue before it is counted, and is polled after it was counted off: so who has counted
     * off n finds n. Where queries are counted a task is, after every change: who counts the first query has one queued, and the
     * last task takes all.
     */
    private static final class Lane {
        private static final long QUERY = 1L << Integer.SIZE;
        private static final long TASK = 1;

        private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
        private final AtomicLong counts = new AtomicLong();

        private static int queries(long counts) {
            return (int) (counts / QUERY);
        }

        private static int tasks(long counts) {
            return (int) (counts % QUERY);
        }

        /** Returns whether the caller must see to it that a task takes a group. */
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

        /** How many the caller has counted off, and is to {@link #poll}, as a task that was queued for them. */
        int takeAsTask() {
            while (true) {
                long before = counts.get();
                int count = GroupRule.taken(queries(before), tasks(before));
                if (counts.compareAndSet(before, before - count * QUERY - TASK)) {
                    return count;
                }
            }
        }

        /** As {@link #takeAsTask}, for one whose own queries leave room for {@code room} more. */
        int takeAsGuest(int room) {
            while (true) {
                long before = counts.get();
                int count = Math.min(queries(before), room);
                if (count == 0 || counts.compareAndSet(before, before - count * QUERY)) {
                    return count;
                }
            }
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
    private final GroupSearch<Q, R> search;
    private final GroupRule rule;
    private final Lane interactive = new Lane();
    private final Lane batch = new Lane();

    /** What a query of a group takes. An update that is lost to another's is no harm. */
    private volatile long nanosPerQuery;

    public SharedQueue(MappingId mappingId, GroupSearch<Q, R> search, GroupRule rule) {
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

    TableUse use() {
        return mappingId.registration().use();
    }

    GroupSearch<Q, R> search() {
        return search;
    }

    private Lane lane(Priority priority) {
        return priority == Priority.INTERACTIVE ? interactive : batch;
    }

    /** Whether who joins now is likely to have to queue a task. */
    boolean nextNeedsTask(Priority priority, boolean workersFree) {
        return lane(priority).nextNeedsTask(rule.size(nanosPerQuery, workersFree));
    }

    /**
     * Returns whether the caller must see to it that a task {@linkplain #take takes} a group.
     *
     * @param workersFree whether any worker has nothing to do
     */
    boolean join(Priority priority, Entry entry, boolean workersFree) {
        return lane(priority).join(entry, rule.size(nanosPerQuery, workersFree));
    }

    /**
     * Takes a group for a task that was queued for it, oldest first; null where others have taken all. Batch queries share the
     * pass with interactive ones where these leave room, not the other way round.
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

    /** Notes what serving a group took. */
    void served(long nanos, int queries) {
        nanosPerQuery = GroupRule.measured(nanosPerQuery, nanos, queries);
    }
}
