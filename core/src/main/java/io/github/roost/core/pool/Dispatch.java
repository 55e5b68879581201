package io.github.roost.core.pool;

import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.SharedQueue.Entry;
import io.github.roost.core.task.BatchQueue;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.TableClosedException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts tasks where the dispatcher wants them: into the ring of the worker it names, or of another one of that domain. What
 * belongs to a request that has been accepted is never refused: where all rings are full it waits in a list. Thread-safe.
 */
public final class Dispatch {
    /** In place of a worker's number. */
    private static final int NOWHERE = -1;

    private final WorkerPool pool;
    private final WorkerLayout layout;
    private final Dispatcher dispatcher;
    private final LongSupplier tickets;
    private final LoadView load;

    /** @param tickets what the dispatcher draws by */
    Dispatch(WorkerPool pool, WorkerLayout layout, Dispatcher dispatcher, LongSupplier tickets) {
        this.pool = pool;
        this.layout = layout;
        this.dispatcher = dispatcher;
        this.tickets = tickets;
        this.load = pool.loadView();
    }

    /** The worker where a task with a slot is to wait. */
    public int worker(int slot, Mapping mapping) {
        return worker(slot, mapping, tickets.getAsLong());
    }

    /** As {@link #worker(int, Mapping)}, by a ticket drawn before. */
    public int worker(int slot, Mapping mapping, long ticket) {
        return dispatcher.worker(slot, mapping, load, ticket);
    }

    /** A ticket for {@link #worker(int, Mapping, long)}. */
    public long ticket() {
        return tickets.getAsLong();
    }

    /** Puts a task into the ring of a worker, or of another of its domain, and wakes who is to run it; false where all are full. */
    public boolean offer(int preferred, Task task) {
        int worker = put(preferred, task);
        if (worker == NOWHERE) {
            return false;
        }
        pool.added(worker);
        return true;
    }

    /** Puts a task into the ring of a worker, or of another of its domain, whose number it returns. */
    private int put(int preferred, Task task) {
        return pool.tryPut(preferred, task.priority(), task)
                ? preferred
                : tryOthers(preferred, worker -> pool.tryPut(worker, task.priority(), task));
    }

    /** Whether a worker, or another of its domain, has room in its ring now. */
    private boolean hasRoom(int preferred, Priority priority, int capacity) {
        return pool.worker(preferred).ring(priority).waiting() < capacity
                || tryOthers(
                                preferred,
                                worker -> pool.worker(worker).ring(priority).waiting() < capacity)
                        != NOWHERE;
    }

    /** Reserves a place near a worker; false where all rings are full. */
    boolean reserve(int preferred, Reservation places, int index) {
        Faults.point();
        return places.reserve(index, preferred)
                || tryOthers(preferred, worker -> places.reserve(index, worker)) != NOWHERE;
    }

    /** The first of the other workers of a domain with which an attempt succeeds, or {@link #NOWHERE}. */
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
     * Puts tasks of accepted requests into rings, or where these are full into workers' lists, and then wakes who is to run
     * them: a worker that wakes up may take the core of who places the rest.
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
                    pool.added(i * Long.SIZE + Long.numberOfTrailingZeros(left));
                }
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            pool.overlooked();
        }
    }

    /** For the numbers of all workers; null where there is no memory: then each is woken at once. */
    private long @Nullable [] workerSet() {
        try {
            Faults.point();
            return new long[(layout.workers() + Long.SIZE - 1) / Long.SIZE];
        } catch (OutOfMemoryError | StackOverflowError struck) {
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
        } catch (OutOfMemoryError | StackOverflowError struck) {
            // It is accepted, and whoever holds others to be placed goes on with these.
            if (task.claim()) {
                pool.worker(0).resume(task);
            }
        }
    }

    private void wakeLater(int worker, long @Nullable [] woken) {
        if (woken == null) {
            pool.added(worker);
        } else {
            woken[worker / Long.SIZE] |= 1L << worker;
        }
    }

    /** Puts a task of maintenance, claimed by the caller, where its home's workers find it. */
    public void maintain(Task task) {
        pool.maintain(layout.domainOf(worker(task.slot(), task.epoch().mapping())), task);
    }

    /**
     * Reserves places for the parts of a fork, all or none, and looks whether there is room for what its batch queues need: in
     * the queue, and in a ring where nobody has queued a task for it. Who loses that room to others meanwhile waits in a list.
     *
     * @param capacity tasks that may wait in a ring, and queries in a batch queue
     * @return -1, or the domain that is full
     */
    public int reserve(
            Step.Fork<?, ?, ?, ?> fork, Reservation places, Mapping mapping, Priority priority, int capacity) {
        try {
            return reserveAll(fork, places, mapping, priority, capacity);
        } catch (Throwable struck) {
            // A place that nobody fills would hold up those behind it for ever.
            places.release();
            throw struck;
        }
    }

    private int reserveAll(
            Step.Fork<?, ?, ?, ?> fork, Reservation places, Mapping mapping, Priority priority, int capacity) {
        int index = 0;
        for (Part<?, ?> part : fork.parts()) {
            int worker = worker(part.mappingId().slot(), mapping);
            if (!reserve(worker, places, index++)) {
                places.release();
                return layout.domainOf(worker);
            }
        }
        boolean workersFree = !fork.shared().isEmpty() && pool.anyFree();
        for (BatchQueue<?, ?> queue : fork.shared()) {
            SharedQueue<?, ?> shared = (SharedQueue<?, ?>) queue;
            boolean needsTask = shared.nextNeedsTask(priority, workersFree);
            boolean full = shared.waiting() >= capacity;
            if (needsTask || full) {
                // Its dispatcher is asked once, when the task is placed: that costs the most, and takes a turn of round
                // robin.
                int home = mapping.home(shared.mappingId().slot(), 0);
                if (full || !hasRoom(layout.workerIn(home, 0), priority, capacity)) {
                    places.release();
                    return home;
                }
            }
        }
        return -1;
    }

    /** Has a task go on in parts, for which no place is reserved. Called by its owner, who no longer is when this returns. */
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
        for (BatchQueue<?, ?> queue : fork.shared()) {
            requireOpen(queue.mappingId(), number);
        }
    }

    private static void requireOpen(MappingId id, long epoch) {
        if (!id.registration().isOpenIn(epoch)) {
            throw new TableClosedException(id.registration().name());
        }
    }

    /**
     * Puts the parts of a task on their way. What fails in the midst of it fails the request; the parts that are on their way
     * find that out, the others are counted off here. Where this throws, nothing has begun, and the task is its owner's still.
     *
     * @param places where those are reserved; null for none
     * @param elsewhere keeps those for which none is, to be placed when this returns, or runs them
     * @param held how many tasks were made before these that have not been placed: workers that will run them are not free
     * @param goesOn told the task where no part is left
     */
    public void begin(
            Stepper task,
            Step.Fork<?, ?, ?, ?> fork,
            @Nullable Reservation places,
            Consumer<Task> elsewhere,
            int held,
            Consumer<Task> goesOn) {
        List<? extends Part<?, ?>> parts = fork.parts();
        List<? extends BatchQueue<?, ?>> shared = fork.shared();
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
                // From here on the part counts itself off.
                int index = begun++;
                put(part, places, index, elsewhere);
            }
            GroupTask spare = null;
            boolean workersFree = !shared.isEmpty() && pool.anyFree(held);
            while (begun < count) {
                SharedQueue<?, ?> queue = (SharedQueue<?, ?>) shared.get(begun - parts.size());
                Entry entry = new Entry(join, begun, fork.asked());
                // Made before the query joins: a group that nobody is to serve would wait for ever.
                spare = spare == null ? new GroupTask(task.epoch(), task.priority()) : spare;
                Faults.point();
                // Before the query joins, since it may be refused.
                queue.use().enterFromInside(lane());
                begun++;
                if (!queue.join(task.priority(), entry, workersFree)) {
                    queue.use().exit(lane());
                } else {
                    task.epoch().enter(lane(), 1);
                    GroupTask group = spare.of(queue);
                    spare = null;
                    put(group, null, 0, elsewhere);
                }
            }
        } catch (Throwable failure) {
            // First what needs no memory: should it not be told now, the task finds it when its parts are counted off.
            join.fail(failure);
            tell(task, failure);
        }
        if (places != null) {
            places.wake();
            places.release();
        }
        join.countOff(1 + count - begun, goesOn);
    }

    private static void tell(Stepper task, Throwable failure) {
        try {
            Faults.point();
            task.failRequest(failure);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            // The join tells it.
            return;
        }
    }

    /** Puts a task where it will be run. It counts for others, so an error in the midst of it must not lose it. */
    private void put(Task task, @Nullable Reservation places, int index, Consumer<Task> elsewhere) {
        try {
            Faults.point();
            if (places != null && places.has(index)) {
                // Before it is in a ring: from then on it may be over.
                pool.submitted(task);
                places.put(index, task);
            } else {
                elsewhere.accept(task);
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            if (task.claim()) {
                pool.worker(0).resume(task);
            }
        }
    }

    private static long lane() {
        return Thread.currentThread().threadId();
    }
}
