package io.github.roost.core.pool;

import io.github.roost.core.task.BatchQueue;
import io.github.roost.core.task.GroupSearch;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Priority;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The queries that wait for one mapping id, of each priority: two Treiber stacks that are only ever emptied whole, so entries
 * do not come back and there is no ABA. Who joins an empty stack has a {@link GroupTask} queued, which empties it. An entry
 * is made before it joins, so taking needs no memory.
 */
public final class SharedQueue<Q, R> implements BatchQueue<Q, R> {
    private static final VarHandle INTERACTIVE;
    private static final VarHandle BATCH;

    static {
        try {
            INTERACTIVE = MethodHandles.lookup().findVarHandle(SharedQueue.class, "interactive", Entry.class);
            BATCH = MethodHandles.lookup().findVarHandle(SharedQueue.class, "batch", Entry.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** One query on its way; used by one thread at a time. */
    static final class Entry {
        final Join join;
        final int index;
        final @Nullable Object query;

        @Nullable
        Entry next;

        /** Entries at and below this one. */
        int depth;

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

    private final MappingId mappingId;
    private final GroupSearch<Q, R> search;

    @SuppressWarnings("unused")
    private volatile @Nullable Entry interactive;

    @SuppressWarnings("unused")
    private volatile @Nullable Entry batch;

    public SharedQueue(MappingId mappingId, GroupSearch<Q, R> search) {
        this.mappingId = mappingId;
        this.search = search;
    }

    @Override
    public MappingId mappingId() {
        return mappingId;
    }

    @Override
    public int waiting() {
        Entry one = interactive;
        Entry other = batch;
        return (one == null ? 0 : one.depth) + (other == null ? 0 : other.depth);
    }

    GroupSearch<Q, R> search() {
        return search;
    }

    private static VarHandle stack(Priority priority) {
        return priority == Priority.INTERACTIVE ? INTERACTIVE : BATCH;
    }

    /** Whether nobody waits now with that priority, so that who joins is likely to have to queue a task. */
    boolean isEmpty(Priority priority) {
        return (priority == Priority.INTERACTIVE ? interactive : batch) == null;
    }

    /** Returns whether the queue was empty: then the caller must see to it that a task takes what waits. */
    boolean join(Priority priority, Entry entry) {
        VarHandle stack = stack(priority);
        while (true) {
            Entry top = (Entry) stack.getVolatile(this);
            entry.next = top;
            entry.depth = top == null ? 1 : top.depth + 1;
            if (stack.compareAndSet(this, top, entry)) {
                return top == null;
            }
        }
    }

    /** Takes all that wait, oldest first; interactive queries share the pass with batch ones, not the other way round. */
    @Nullable
    Entry takeAll(Priority priority) {
        Entry first = null;
        if (priority == Priority.INTERACTIVE) {
            first = reversed((Entry) BATCH.getAndSet(this, null), null);
        }
        return reversed((Entry) stack(priority).getAndSet(this, null), first);
    }

    private static @Nullable Entry reversed(@Nullable Entry newest, @Nullable Entry behind) {
        Entry first = behind;
        for (Entry entry = newest; entry != null; ) {
            Entry older = entry.next;
            entry.next = first;
            first = entry;
            entry = older;
        }
        return first;
    }
}
