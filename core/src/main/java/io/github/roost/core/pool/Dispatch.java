package io.github.roost.core.pool;

import io.github.roost.core.MappingId;
import io.github.roost.core.Part;
import io.github.roost.core.Priority;
import io.github.roost.core.TableClosedException;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.SharedQueue.Entry;
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts tasks into the ring of the worker that the dispatcher chooses, or of another worker of that domain. Tasks of accepted
 * requests are never refused: if all rings are full, they wait in a list. Thread-safe.
 */
public final class Dispatch {
    /** Stands for no worker. */
    private static final int NOWHERE = -1;

    private final WorkerPool pool;
    private final WorkerLayout layout;
    private final Dispatcher dispatcher;
    private final LongSupplier tickets;
    private final LoadView load;

    /** @param tickets source of the tickets passed to the dispatcher */
    Dispatch(WorkerPool pool, WorkerLayout layout, Dispatcher dispatcher, LongSupplier tickets) {
        this.pool = pool;
        this.layout = layout;
        this.dispatcher = dispatcher;
        this.tickets = tickets;
        this.load = pool.loadView();
    }

    /** The worker that the dispatcher chooses for a slot. */
    public int worker(int slot, Mapping mapping) {
        return worker(slot, mapping, tickets.getAsLong());
    }

    /** As {@link #worker(int, Mapping)}, with a ticket drawn earlier. */
    public int worker(int slot, Mapping mapping, long ticket) {
        return dispatcher.worker(slot, mapping, load, ticket);
    }

    /** Draws a ticket for {@link #worker(int, Mapping, long)}. */
    public long ticket() {
        return tickets.getAsLong();
    }

    /** Puts a task into the ring of a worker, or of another worker of its domain, and wakes a worker; false if all are full. */
    public boolean offer(int preferred, Task task) {
        int worker = put(preferred, task);
        if (worker == NOWHERE) {
            return false;
        }
        pool.wakeups().added(worker);
        return true;
    }

    /** Puts a task into the ring of a worker, or of another worker of its domain; returns that worker, or {@link #NOWHERE}. */
    private int put(int preferred, Task task) {
        return pool.tryPut(preferred, task.priority(), task)
                ? preferred
                : tryOthers(preferred, worker -> pool.tryPut(worker, task.priority(), task));
    }

    /** Whether a worker, or another worker of its domain, has room in its ring now. */
    private boolean hasRoom(int preferred, Priority priority, int capacity) {
        return pool.worker(preferred).ring(priority).waiting() < capacity
                || tryOthers(
                                preferred,
                                worker -> pool.worker(worker).ring(priority).waiting() < capacity)
                        != NOWHERE;
    }

    /** Reserves a place in the ring of a worker, or of another worker of its domain; false if all are full. */
    boolean reserve(int preferred, Reservation places, int index) {
        Faults.point();
        return places.reserve(index, preferred)
                || tryOthers(preferred, worker -> places.reserve(index, worker)) != NOWHERE;
    }

    /** The first of the other workers of a domain for which an attempt succeeds, or {@link #NOWHERE}. */
    private int tryOthers(int preferred, IntPredicate attempt) {
        int domain = layout.domainOf(preferred);
        for (int i = 0; i < layout.workersIn(domain); i++) {
            int worker = layout.workerIn(domain, i);
            if (worker != preferred && attempt.test(worker)) {
                return worker;
            }
        }
        return NOWHERE;
    }

    /**
     * Puts tasks of accepted requests into rings, or into workers' lists if the rings are full. Wakes workers only after all
     * tasks are placed, since a worker that wakes up may preempt this thread.
     */
    public void place(TaskList held) {
        long[] woken = workerSet();
        for (Task task = held.poll(); task != null; task = held.poll()) {
            place(task, woken);
        }
        if (woken != null) {
            wake(woken);
        }
    }

    private void wake(long[] workers) {
        try {
            for (int i = 0; i < workers.length; i++) {
                for (long left = workers[i]; left != 0; left &= left - 1) {
                    pool.wakeups().added(i * Long.SIZE + Long.numberOfTrailingZeros(left));
                }
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            pool.wakeups().missedWakeup();
        }
    }

    /** A bit set of all workers; null if there is no memory for it: then each worker is woken at once. */
    private long @Nullable [] workerSet() {
        try {
            Faults.point();
            return new long[(layout.workers() + Long.SIZE - 1) / Long.SIZE];
        } catch (OutOfMemoryError | StackOverflowError error) {
            return null;
        }
    }

    private void place(Task task, long @Nullable [] woken) {
        try {
            Faults.point();
            int preferred = worker(task.slot(), task.epoch().mapping());
            pool.submitted(task);
            int worker = put(preferred, task);
            if (worker != NOWHERE) {
                wakeLater(worker, woken);
            } else if (task.claim()) {
                pool.worker(preferred).resume(task);
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            // The task is accepted, so it must not be lost; the caller continues with the next task.
            if (task.claim()) {
                pool.worker(0).resume(task);
            }
        }
    }

    private void wakeLater(int worker, long @Nullable [] woken) {
        if (woken == null) {
            pool.wakeups().added(worker);
        } else {
            woken[worker / Long.SIZE] |= 1L << worker;
        }
    }

    /** Puts a task of maintenance, claimed by the caller, into the maintenance list of its home domain. */
    public void maintain(Task task) {
        pool.maintain(layout.domainOf(worker(task.slot(), task.epoch().mapping())), task);
    }

    /**
     * Reserves places for the parts of a fork, all or none, and checks that its batch queues have room, and a ring too if a task
     * must be queued for them. That room is not reserved: a group task that loses it to other tasks waits in a list. If only this
     * fork's places fill the rings of a domain, its other parts there get no place and wait in a list: otherwise a fork of more parts
     * than the rings hold could never be accepted.
     *
     * @param capacity maximum number of tasks that wait in a ring, and of queries that wait in a batch queue
     * @return -1, or the domain that is full
     */
    public int reserve(
            Step.Fork<?, ?, ?, ?> fork, Reservation places, Mapping mapping, Priority priority, int capacity) {
        try {
            return reserveAll(fork, places, mapping, priority, capacity);
        } catch (Throwable error) {
            // A reserved place that is never filled would block the tasks behind it forever.
            places.release();
            throw error;
        }
    }

    /** Whether tasks other than those of a reservation wait in the rings of a domain. */
    private boolean othersWait(int domain, Reservation places, Priority priority) {
        for (int i = 0; i < layout.workersIn(domain); i++) {
            int worker = layout.workerIn(domain, i);
            if (pool.worker(worker).ring(priority).waiting() > places.countAt(worker)) {
                return true;
            }
        }
        return false;
    }

    private int reserveAll(
            Step.Fork<?, ?, ?, ?> fork, Reservation places, Mapping mapping, Priority priority, int capacity) {
        int index = 0;
        for (Part<?, ?> part : fork.parts()) {
            int worker = worker(part.mappingId().slot(), mapping);
            if (!reserve(worker, places, index++) && othersWait(layout.domainOf(worker), places, priority)) {
                places.release();
                return layout.domainOf(worker);
            }
        }
        boolean workersFree = !fork.shared().isEmpty() && pool.anyFree();
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            SharedQueue<?, ?> shared = (SharedQueue<?, ?>) queue;
            boolean needsTask = shared.nextNeedsTask(priority, workersFree);
            boolean full = shared.waiting() >= capacity;
            if (needsTask || full) {
                // The dispatcher is not called here but once, when the task is placed: a call is expensive and uses up
                // a turn
                // of round robin.
                int home = mapping.home(shared.mappingId().slot(), 0);
                if (full
                        || (!hasRoom(layout.workerIn(home, 0), priority, capacity)
                                && othersWait(home, places, priority))) {
                    places.release();
                    return home;
                }
            }
        }
        return -1;
    }

    /** Forks a task into parts without reserved places. Called by the owner of the task, which loses ownership. */
    void fork(Stepper task, Step.Fork<?, ?, ?, ?> fork, Consumer<Task> goesOn) {
        requireOpen(task.epoch(), fork);
        TaskList held = new TaskList();
        begin(task, fork, null, held::add, 0, goesOn);
        place(held);
    }

    private static void requireOpen(Epoch epoch, Step.Fork<?, ?, ?, ?> fork) {
        long number = epoch.mapping().epoch();
        for (Part<?, ?> part : fork.parts()) {
            requireOpen(part.mappingId(), number);
        }
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            requireOpen(queue.mappingId(), number);
        }
    }

    private static void requireOpen(MappingId id, long epoch) {
        if (!id.registration().isOpenIn(epoch)) {
            throw new TableClosedException(id.registration().name());
        }
    }

    /**
     * Starts the parts of a task. A failure midway fails the request: parts already started observe that, the remaining parts are
     * counted off here. If this throws, nothing has started, and the caller still owns the task.
     *
     * @param places reserved places of the parts; null for none
     * @param elsewhere receives tasks without a reserved place: holds them to be placed after this returns, or runs them
     * @param held number of earlier tasks that are not placed yet: the workers that will run them are not free
     * @param goesOn receives the task if no part is left
     */
    public void begin(
            Stepper task,
            Step.Fork<?, ?, ?, ?> fork,
            @Nullable Reservation places,
            Consumer<Task> elsewhere,
            int held,
            Consumer<Task> goesOn) {
        List<? extends Part<?, ?>> parts = fork.parts();
        List<? extends Indexing.BatchQueue<?, ?>> shared = fork.shared();
        int count;
        Join join;
        try {
            Faults.point();
            count = parts.size() + shared.size();
            join = new Join(task, fork);
        } catch (Throwable nothingBegun) {
            if (places != null) {
                places.release();
            }
            throw nothingBegun;
        }
        task.work(join);
        int begun = 0;
        try {
            while (begun < parts.size()) {
                PartTask part = new PartTask(join, parts.get(begun), begun);
                Faults.point();
                part.use().enterFromInside(lane());
                task.epoch().enter(lane(), 1);
                // From here on the part itself counts off its join.
                int index = begun++;
                put(part, places, index, elsewhere);
            }
            if (!shared.isEmpty()) {
                // A query that is half in a queue would be answered twice, or never.
                StackRoom.require();
            }
            GroupTask spare = null;
            boolean workersFree = !shared.isEmpty() && pool.anyFree(held);
            while (begun < count) {
                SharedQueue<?, ?> queue = (SharedQueue<?, ?>) shared.get(begun - parts.size());
                Entry entry = new Entry(join, begun, fork.sharedQuery());
                // Allocated before the query joins: a queue without a task to serve it would wait forever.
                spare = spare == null ? new GroupTask(task.epoch(), task.priority()) : spare;
                Faults.point();
                // Before the query joins, since this may throw.
                queue.use().enterFromInside(lane());
                boolean needsTask = joins(queue, task, entry, workersFree);
                // From here on the query itself counts off its join.
                begun++;
                if (!needsTask) {
                    pool.completion().leave(queue.use(), lane());
                } else {
                    task.epoch().enter(lane(), 1);
                    GroupTask group = spare.of(queue);
                    spare = null;
                    put(group, null, 0, elsewhere);
                }
            }
        } catch (Throwable failure) {
            // First the step that allocates nothing: if the request cannot be failed now, the task finds the failure in
            // its join.
            join.fail(failure);
            tell(task, failure);
        }
        if (places != null) {
            places.wake();
            places.release();
        }
        join.countOff(1 + count - begun, goesOn);
    }

    /** Adds a query to a queue; returns whether the queue needs a task. If this throws, the query is not in the queue. */
    private boolean joins(SharedQueue<?, ?> queue, Stepper task, Entry entry, boolean workersFree) {
        try {
            return queue.join(task.priority(), entry, workersFree);
        } catch (OutOfMemoryError | StackOverflowError error) {
            pool.completion().leave(queue.use(), lane());
            throw error;
        }
    }

    private static void tell(Stepper task, Throwable failure) {
        try {
            Faults.point();
            task.failRequest(failure);
        } catch (OutOfMemoryError | StackOverflowError error) {
            // The task finds the failure in its join.
            return;
        }
    }

    /** Puts a task into its reserved place or hands it to {@code elsewhere}. Its join depends on it, so no error may lose it. */
    private void put(Task task, @Nullable Reservation places, int index, Consumer<Task> elsewhere) {
        try {
            Faults.point();
            if (places != null && places.has(index)) {
                // Before the task is in a ring: from then on it may have ended.
                pool.submitted(task);
                places.put(index, task);
            } else {
                elsewhere.accept(task);
            }
        } catch (OutOfMemoryError | StackOverflowError error) {
            if (task.claim()) {
                pool.worker(0).resume(task);
            }
        }
    }

    private static long lane() {
        return Thread.currentThread().threadId();
    }
}
