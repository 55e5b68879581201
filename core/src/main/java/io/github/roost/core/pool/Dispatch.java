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
import io.github.roost.core.spi.Indexing;
import io.github.roost.core.spi.Step;
import io.github.roost.core.spi.TableUse;
import io.github.roost.core.task.GroupTask;
import io.github.roost.core.task.Join;
import io.github.roost.core.task.PartTask;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Room;
import io.github.roost.core.task.SharedQueue;
import io.github.roost.core.task.SharedQueue.Entry;
import io.github.roost.core.task.Stepper;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Puts tasks into the queue of the worker that the dispatcher chooses, if its domain has {@link Room}. Tasks of accepted requests are never refused.
 * Thread-safe.
 */
public final class Dispatch {
    private final WorkerPool pool;
    private final WorkerLayout layout;
    private final Dispatcher dispatcher;
    private final LongSupplier tickets;
    private final LoadView load;
    /** Maximum number of queries that wait in a batch queue. */
    private final int capacity;

    private final Predicate<MappingId> owned;

    /** @param tickets source of the tickets passed to the dispatcher */
    Dispatch(WorkerPool pool, WorkerPool.Setup setup, Dispatcher dispatcher, LongSupplier tickets) {
        this.pool = pool;
        this.layout = setup.layout();
        this.dispatcher = dispatcher;
        this.tickets = tickets;
        this.load = pool.loadView();
        this.capacity = setup.queueCapacity();
        this.owned = setup.owned();
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

    // ---- Single tasks.

    /** Puts a task at a worker and wakes a worker; false if its domain has no room, or others wait for it. */
    public boolean offer(int worker, Task task) {
        return !pool.room(pool.worker(worker), task.priority()).isAwaited() && offerInTurn(worker, task);
    }

    /** As {@link #offer}, for the submitter whose turn it is. */
    private boolean offerInTurn(int worker, Task task) {
        Worker target = pool.worker(worker);
        if (!takes(target.domain, task.priority(), 1)) {
            return false;
        }
        put(target, task);
        pool.idle().added(target);
        return true;
    }

    /** Waits for room and puts a task, as {@link #offer}; false if there was none in time. */
    public boolean await(int worker, Task task, BooleanSupplier goesOn, long nanos) {
        return awaitRoom(layout.domainOf(worker), task.priority(), () -> offerInTurn(worker, task), goesOn, nanos);
    }

    /** Takes room in a domain, if need be after the tasks that nobody needs have been taken out of its queues. */
    private boolean takes(int domain, Priority priority, int tasks) {
        Room room = pool.room(domain, priority);
        if (room.take(tasks)) {
            return true;
        }
        long now = System.nanoTime();
        long abandoned = Request.abandoned();
        if (!room.maySweep(now, abandoned)) {
            return false;
        }
        pool.sweep(domain, priority);
        room.swept(now, System.nanoTime(), abandoned);
        return room.take(tasks);
    }

    private void put(Worker worker, Task task) {
        TaskQueue queue = worker.queue(task.priority());
        long place = queue.put(task);
        pool.submitted(task, queue, place);
    }

    // ---- Tasks of accepted requests.

    /**
     * Puts tasks at their workers, or where the dispatcher chooses if they have none. Wakes workers only after that, since a worker that wakes up may
     * preempt this thread.
     */
    public void place(Held held) {
        if (held.size() == 0) {
            return;
        }
        BitSet woken = new BitSet(layout.workers());
        held.forEach((task, chosen) -> {
            int worker = chosen;
            if (worker == Held.NO_WORKER) {
                worker = worker(task.slot(), task.epoch().mapping());
                pool.room(pool.worker(worker), task.priority()).give(-1);
            }
            put(pool.worker(worker), task);
            woken.set(worker);
        });
        held.clear();
        for (int worker = woken.nextSetBit(0); worker >= 0; worker = woken.nextSetBit(worker + 1)) {
            pool.idle().added(pool.worker(worker));
        }
    }

    /** Puts a task of maintenance into the maintenance queue of its home domain. */
    public void maintain(Task task) {
        pool.maintain(layout.domainOf(worker(task.slot(), task.epoch().mapping())), task);
    }

    // ---- Forks.

    /** Waits for room in a domain. */
    @FunctionalInterface
    public interface Patience {
        /**
         * Waits until it is the caller's turn and an attempt succeeds.
         *
         * @return whether one did
         */
        boolean awaits(int domain, BooleanSupplier attempt);
    }

    /**
     * Takes room for the parts of a fork, all or none, and checks that its batch queues have room. Takes it domain by domain, in the same order by
     * all, and keeps what it has while it waits for the rest: so of two forks that need the same domains one gets them, and none starves.
     *
     * @param workers receives the worker of each part; its length is the number of parts
     * @param patience asked where there is no room, or others wait for it
     * @return -1, or the domain that is full
     */
    public int admit(Step.Fork<?, ?, ?, ?> fork, Mapping mapping, Priority priority, int[] workers, Patience patience) {
        int[] tasks = new int[layout.domains()];
        BitSet domains = new BitSet(tasks.length);
        for (int i = 0; i < workers.length; i++) {
            workers[i] = worker(fork.parts().get(i).mappingId().slot(), mapping);
            tasks[layout.domainOf(workers[i])]++;
            domains.set(layout.domainOf(workers[i]));
        }
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            domains.set(mapping.home(queue.mappingId().slot(), 0));
        }
        for (int domain = domains.nextSetBit(0); domain >= 0; domain = domains.nextSetBit(domain + 1)) {
            int here = domain;
            BooleanSupplier attempt = () -> takes(fork, mapping, priority, here, tasks[here]);
            if ((pool.room(here, priority).isAwaited() || !attempt.getAsBoolean()) && !patience.awaits(here, attempt)) {
                for (int taken = 0; taken < here; taken++) {
                    giveBack(taken, priority, tasks[taken]);
                }
                return here;
            }
        }
        return -1;
    }

    /** Takes room in one domain, if the batch queues there have room too. */
    private boolean takes(Step.Fork<?, ?, ?, ?> fork, Mapping mapping, Priority priority, int domain, int tasks) {
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            SharedQueue<?, ?> shared = (SharedQueue<?, ?>) queue;
            if (mapping.home(shared.mappingId().slot(), 0) == domain
                    && (shared.isFull(capacity)
                            || (shared.nextNeedsTask(priority, false) && !hasRoom(domain, priority)))) {
                return false;
            }
        }
        return tasks == 0 || takes(domain, priority, tasks);
    }

    private boolean hasRoom(int domain, Priority priority) {
        if (!takes(domain, priority, 1)) {
            return false;
        }
        // The task of the group itself is not refused.
        giveBack(domain, priority, 1);
        return true;
    }

    private void giveBack(int domain, Priority priority, int tasks) {
        if (tasks > 0) {
            Room room = pool.room(domain, priority);
            room.give(tasks);
            room.made();
        }
    }

    /** Gives the room back that was taken for parts, from one on. */
    public void giveBack(int[] workers, int from, Priority priority) {
        for (int i = from; i < workers.length; i++) {
            giveBack(layout.domainOf(workers[i]), priority, 1);
        }
    }

    /** Waits for room in a domain until an attempt succeeds; false if none did in time. */
    public boolean awaitRoom(
            int domain, Priority priority, BooleanSupplier attempt, BooleanSupplier goesOn, long nanos) {
        WorkerPool.blocks();
        BooleanSupplier watched = () -> {
            // The watch takes tasks that nobody needs out of the queues meanwhile, and lets the attempt be repeated.
            pool.watchDeadlines();
            return attempt.getAsBoolean();
        };
        return pool.room(domain, priority).await(watched, goesOn, nanos);
    }

    /** Forks a task. Called by the owner of the task, which loses ownership. */
    void fork(Stepper task, Step.Fork<?, ?, ?, ?> fork, Consumer<Task> goesOn) {
        requireOpen(task.epoch(), fork);
        boolean timed = task.hasDeadline();
        Held held = new Held();
        begin(task, fork, null, held, goesOn);
        place(held);
        if (timed) {
            pool.watchDeadlines();
        }
    }

    private void requireOpen(Epoch epoch, Step.Fork<?, ?, ?, ?> fork) {
        Mapping mapping = epoch.mapping();
        for (Part<?, ?> part : fork.parts()) {
            requireOpen(part.mappingId(), mapping);
        }
        for (Indexing.BatchQueue<?, ?> queue : fork.shared()) {
            requireOpen(queue.mappingId(), mapping);
        }
    }

    private void requireOpen(MappingId id, Mapping mapping) {
        if (!id.registration().isOpenIn(mapping.epoch())) {
            throw new TableClosedException(id.registration().name());
        }
        if (id.slot() >= mapping.slots() || !owned.test(id)) {
            throw new IllegalArgumentException(
                    "a search can fork only to tables that were registered here before it was submitted, got " + id
                            + " of a later one, or of another orchestrator");
        }
    }

    /**
     * Begins the parts of a task. A failure midway fails the request: parts already begun observe that, the remaining parts are
     * counted off here. If this throws, nothing has begun, and the caller still owns the task.
     *
     * @param workers the workers of the parts, for which room was taken; null for none
     * @param held receives the tasks of the parts, to be placed or run when this has returned; what it has already are tasks not placed yet, whose workers are
     *     not free
     * @param goesOn receives the task if no part is left
     */
    public void begin(
            Stepper task, Step.Fork<?, ?, ?, ?> fork, int @Nullable [] workers, Held held, Consumer<Task> goesOn) {
        List<? extends Part<?, ?>> parts = fork.parts();
        List<? extends Indexing.BatchQueue<?, ?>> shared = fork.shared();
        int count = parts.size() + shared.size();
        Join join = new Join(task, fork);
        task.work(join);
        int begun = 0;
        try {
            while (begun < parts.size()) {
                PartTask part = new PartTask(join, parts.get(begun), begun);
                enter(task.epoch(), part.use());
                // From here on the part itself counts off its join.
                int worker = workers == null ? Held.NO_WORKER : workers[begun];
                begun++;
                held.add(part, worker);
            }
            boolean workersFree = !shared.isEmpty() && pool.anyFree(held.size());
            while (begun < count) {
                SharedQueue<?, ?> queue = (SharedQueue<?, ?>) shared.get(begun - parts.size());
                TableUse use = task.use() == null ? null : queue.use();
                // Before the query joins, since this may throw.
                enter(task.epoch(), use);
                Entry entry = new Entry(join, begun, fork.sharedQuery());
                boolean needsTask = queue.join(task.priority(), entry, workersFree);
                // From here on the query itself counts off its join.
                begun++;
                if (needsTask) {
                    held.add(new GroupTask(task.epoch(), task.priority(), use).of(queue), Held.NO_WORKER);
                } else {
                    leave(task.epoch(), use);
                }
            }
        } catch (RuntimeException | Error failure) {
            join.fail(failure);
            task.failRequest(failure);
            if (workers != null) {
                giveBack(workers, begun, task.priority());
            }
        }
        join.countOff(1 + count - begun, goesOn);
    }

    /** Counts a task in: as a user of its table if it belongs to maintenance, else in its epoch, which the task that forks holds. */
    private static void enter(Epoch epoch, @Nullable TableUse use) {
        long lane = Thread.currentThread().threadId();
        if (use == null) {
            epoch.enter(lane, 1);
        } else {
            use.enterFromInside(lane);
        }
    }

    private static void leave(Epoch epoch, @Nullable TableUse use) {
        long lane = Thread.currentThread().threadId();
        if (use == null) {
            epoch.exit(lane);
        } else {
            use.exit(lane);
        }
    }
}
