package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.Stealing;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import org.jspecify.annotations.Nullable;

/**
 * Takes a runner's next task: interactive tasks of the worker, then of its domain; then batch tasks of the worker, then of its domain.
 * After 32 interactive tasks a batch task goes first, so that batch work is never starved; tasks that go on go before those that
 * begin, but after 32 of them one that begins goes first. Maintenance goes first when its share of the time is due. If there is
 * none of these, maintenance of the domain, and then tasks of other domains, through the gate. The caller owns the task. Used only by the runner's
 * thread.
 */
final class TaskChoice {
    /** Interactive tasks after which a waiting batch task goes first, and tasks that go on after which one begins. */
    static final int TURNS = 32;

    private final Runner runner;
    private final Worker worker;
    private final WorkerPool pool;
    private final MaintenanceTurns maintenance;
    private final WorkerTimeSlice timeSlice;
    private final WorkerCounters counters;
    private final StealOrder stealOrder;
    private final Stealing<Task> stealing;
    /** Interactive tasks since the last batch task. */
    private int sinceBatch;
    /** Tasks that went on since the last one that began, by priority. */
    private final int[] sinceBegun = new int[Priority.values().length];

    /** The worker of another domain that the last task was taken from. */
    private @Nullable Worker takenFrom;
    /** Whether the last task goes on, here or in this domain. */
    private boolean goesOn;

    TaskChoice(
            Runner runner,
            WorkerPool pool,
            MaintenanceTurns maintenance,
            WorkerTimeSlice timeSlice,
            WorkerCounters counters) {
        this.runner = runner;
        this.worker = runner.worker();
        this.pool = pool;
        this.maintenance = maintenance;
        this.timeSlice = timeSlice;
        this.counters = counters;
        this.stealOrder = pool.stealOrder(worker.index);
        this.stealing = new Stealing<>(pool.layout(), stealOrder, new OtherWorkers(), pool.platform()::random);
    }

    /** The worker of another domain that the last task was taken from, or null; told once. */
    @Nullable
    Worker takenFrom() {
        Worker from = takenFrom;
        takenFrom = null;
        return from;
    }

    /** Whether the last task was one of the domain that goes on. */
    boolean tookResumed() {
        return goesOn;
    }

    /** Whether the runner still runs its worker. */
    boolean runnerGoesOn() {
        return runner.goesOn();
    }

    /** Looks at completion sources, and takes the next task; null if there is none that needs no gate. */
    @Nullable
    Task next() {
        lookAround();
        return take();
    }

    /** Polls the completion sources. */
    void lookAround() {
        worker.sources.poll(runner);
    }

    /** Takes the next task; null if there is none that needs no gate. */
    @Nullable
    Task take() {
        Task task = maintenance.takeDue();
        if (task == null && sinceBatch >= TURNS) {
            sinceBatch = 0;
            task = takeBatch();
            if (task == null) {
                timeSlice.batchEnds();
            }
        }
        if (task == null) {
            task = takeInteractive();
        }
        if (task == null) {
            task = takeBatch();
        }
        return task == null ? stealing.batch() : task;
    }

    /** Takes an interactive task of the worker or its domain. */
    @Nullable
    Task takeInteractive() {
        Task task = takeOwn(Priority.INTERACTIVE, worker.resumed, worker.interactive);
        if (task == null) {
            task = stealing.interactive();
        }
        if (task != null) {
            sinceBatch++;
        }
        return task;
    }

    /** Counts a task that would go on at once among those that go on; false if others have their turn. */
    boolean mayFollow(Priority priority) {
        int index = priority.ordinal();
        boolean interactive = priority == Priority.INTERACTIVE;
        if (sinceBegun[index] >= TURNS || (interactive ? sinceBatch >= TURNS : seesInteractiveTask())) {
            return false;
        }
        sinceBegun[index]++;
        sinceBatch += interactive ? 1 : 0;
        return true;
    }

    private @Nullable Task takeBatch() {
        return takeOwn(Priority.BATCH, worker.resumedBatch, worker.batch);
    }

    private @Nullable Task takeOwn(Priority priority, TaskQueue resumed, TaskQueue others) {
        int index = priority.ordinal();
        goesOn = true;
        Task task = sinceBegun[index] < TURNS ? resumed.poll() : null;
        if (task != null) {
            sinceBegun[index]++;
            return task;
        }
        sinceBegun[index] = 0;
        task = others.poll();
        if (task != null) {
            goesOn = false;
            pool.room(worker, priority).made();
            return task;
        }
        return resumed.poll();
    }

    /** Takes what may run only if there is nothing else: maintenance, or a task of another domain; null if there is none. */
    @Nullable
    Task nextWhenIdle() {
        Task task = maintenance.takeWhenIdle();
        if (task != null) {
            return task;
        }
        pool.help().updateIfDue();
        return stealing.gated();
    }

    /** Looks at all workers and domains instead of two drawn at random, before the worker sleeps; null if there is no task. */
    @Nullable
    Task nextAnywhere() {
        for (int i = 0; i < stealOrder.victims(); i++) {
            Worker other = pool.worker(stealOrder.victim(i));
            Task task = other.hasTasks() ? take(other) : null;
            if (task != null) {
                return task;
            }
        }
        return stealing.gatedAnywhere();
    }

    private @Nullable Task take(Worker other) {
        Task task = stealInteractive(other);
        return task == null ? stealBatch(other) : task;
    }

    private @Nullable Task stealInteractive(Worker other) {
        return stolen(other, steal(other, other.resumed, other.interactive));
    }

    private @Nullable Task stealBatch(Worker other) {
        return stolen(other, steal(other, other.resumedBatch, other.batch));
    }

    private @Nullable Task steal(Worker other, TaskQueue resumed, TaskQueue others) {
        Task task = resumed.poll();
        goesOn = task != null;
        if (task == null) {
            task = others.poll();
            if (task != null) {
                pool.room(other, task.priority()).made();
            }
        }
        return task;
    }

    private @Nullable Task stolen(Worker other, @Nullable Task task) {
        if (task != null) {
            if (other.domain == worker.domain) {
                counters.add(Counter.INTRA_STEALS, 1);
            } else {
                counters.add(Counter.CROSS_STEALS, 1);
                takenFrom = other;
                goesOn = false;
            }
        }
        return task;
    }

    /** Whether there is a task that this worker may take without the gate. */
    boolean seesTask() {
        if (worker.hasTasks() || maintenance.waits()) {
            return true;
        }
        for (int i = 0; i < stealOrder.victims(); i++) {
            if (pool.worker(stealOrder.victim(i)).hasTasks()) {
                return true;
            }
        }
        return !pool.help().isGated() && stealOrder.gatedLevels() > 0 && pool.anythingWaits();
    }

    /** Whether an interactive task waits at this worker or in its domain. */
    boolean seesInteractiveTask() {
        if (worker.hasInteractive()) {
            return true;
        }
        for (int i = 0; i < stealOrder.victims(); i++) {
            if (pool.worker(stealOrder.victim(i)).hasInteractive()) {
                return true;
            }
        }
        return false;
    }

    /** The other workers as victims of this thief. */
    private final class OtherWorkers implements Stealing.Victims<Task> {
        @Override
        public int waiting(int other) {
            return pool.worker(other).waitingInteractive();
        }

        @Override
        public int waitingBatch(int other) {
            return pool.worker(other).waitingBatch();
        }

        @Override
        public boolean gateOpens(int domain) {
            return pool.help().gateOpens(worker.domain, domain);
        }

        @Override
        public int crossing(int other) {
            return pool.help().crossing(pool.worker(other));
        }

        @Override
        public @Nullable Task take(int other, boolean fromBatch) {
            Worker victim = pool.worker(other);
            return fromBatch ? stealBatch(victim) : stealInteractive(victim);
        }

        @Override
        public @Nullable Task takeAcross(int other) {
            Worker victim = pool.worker(other);
            return stolen(victim, pool.help().takeAcross(victim));
        }
    }
}
