package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.ParkedParts;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.TaskQueue;
import io.github.roost.topology.Pinner;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shared state of a worker: its queues, its parked tasks, and whether it sleeps. A {@link Runner} runs its tasks: the worker's
 * thread, or a fresh thread if that one is blocked in a task. {@link IdleWorkers} says why no wake-up is lost.
 */
final class Worker implements Parked.Place {
    /**
     * Tasks below this time are short. Handing a task to another core, whose private cache may have its data, costs each of the
     * two cores some hundred nanoseconds.
     */
    static final long SHORT_NANOS = 500;

    private static final VarHandle ASLEEP;

    static {
        try {
            ASLEEP = MethodHandles.lookup().findVarHandle(Worker.class, "asleep", Runner.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final int index;
    final int domain;
    /** Interactive tasks that have not begun, or have yielded. */
    final TaskQueue interactive = new TaskQueue();
    /** Interactive tasks that go on: what they waited for has arrived. */
    final TaskQueue resumed = new TaskQueue();
    /** Batch tasks that have not begun, or have yielded. */
    final TaskQueue batch = new TaskQueue();
    /** Batch tasks that go on. */
    final TaskQueue resumedBatch = new TaskQueue();
    /** All of the above. */
    final List<TaskQueue> queues = List.of(resumed, interactive, resumedBatch, batch);
    /** Tasks that wait for bytes. */
    final Set<Parked> parked = ConcurrentHashMap.newKeySet();

    final WorkerSources sources;
    /** Allocated once. */
    final Consumer<Task> resume = this::resume;

    /** The counters of each runner whose thread has not ended; guarded by this, as is {@link #ofEnded}. */
    private final Map<Runner, WorkerCounters> counters = new HashMap<>();

    private final WorkerCounters ofEnded = new WorkerCounters();
    private final WorkerPool pool;
    /** The runner that alone counts in this worker's lane of epochs; guarded by this. */
    private @Nullable Runner laneOwner;
    /** Counted by the worker's thread. */
    private int tasksUntilMeasure = CrossingCost.TASKS_PER_MEASURE;
    /** The runner that sleeps or is about to, or null. Changed by compare-and-set. */
    private volatile @Nullable Runner asleep;
    /** Whether the worker has found nothing to run; written by its thread as it changes. */
    private volatile boolean idle;
    /** Whether recent tasks were short; written by the worker's thread, and only if it changes. */
    private volatile boolean shortTasks;
    /** Written by each thread of the worker as it starts. */
    private volatile Pinner.@Nullable Result pin;
    /** The runner of the worker. */
    private volatile @Nullable Runner runner;

    Worker(int index, int domain, WorkerPool pool) {
        this.index = index;
        this.domain = domain;
        this.pool = pool;
        this.sources = new WorkerSources(this, pool);
    }

    // ---- Its runners.

    /** Starts a fresh thread for the worker; the present thread, if any, ends after the task it runs. */
    void start() {
        Runner fresh = new Runner(this, pool, runner);
        pool.start(fresh);
        runBy(fresh);
    }

    void runBy(Runner fresh) {
        Runner before = runner;
        runner = fresh;
        // The runner before marks itself as asleep and then reads the runner; this reads in the opposite order. So
        // either it sees that it was replaced, or it is woken here.
        if (before != null && asleep == before) {
            pool.idle().wake(this);
        }
    }

    /** Registers a runner and its counters, of which it is the only writer; returns whether it has the worker's lane of epochs. */
    synchronized boolean register(Runner one, WorkerCounters its) {
        counters.put(one, its);
        if (laneOwner == null) {
            laneOwner = one;
        }
        return laneOwner == one;
    }

    /** Called when the thread of a runner ends: adds its counters to {@link #ofEnded}, and gives its lane to the next. */
    synchronized void ended(Runner one) {
        WorkerCounters ofRunner = counters.remove(one);
        if (ofRunner != null) {
            ofEnded.add(ofRunner);
        }
        if (laneOwner == one) {
            laneOwner = null;
        }
    }

    /** The sums of its counters now. */
    synchronized WorkerCounters counts() {
        WorkerCounters sums = new WorkerCounters();
        sums.add(ofEnded);
        counters.values().forEach(sums::add);
        return sums;
    }

    boolean isRunBy(@Nullable Runner one) {
        return runner == one;
    }

    @Nullable
    Runner runner() {
        return runner;
    }

    boolean isOf(WorkerPool other) {
        return pool == other;
    }

    @Override
    public boolean isFailing() {
        return pool.failure() != null;
    }

    Pinner.@Nullable Result pin() {
        return pin;
    }

    void pinned(Pinner.Result result) {
        pin = result;
    }

    // ---- Sleep.

    /** Marks a runner as asleep; false if another is marked. */
    boolean marksAsleep(Runner one) {
        return ASLEEP.compareAndSet(this, null, one);
    }

    /** Takes the mark off; whether this call did. */
    boolean unmarks(Runner one) {
        return asleep == one && ASLEEP.compareAndSet(this, one, null);
    }

    /** The runner that sleeps or is about to, or null. Any thread. */
    @Nullable
    Runner asleep() {
        return asleep;
    }

    void idle(boolean isIdle) {
        idle = isIdle;
    }

    // ---- Tasks.

    @Override
    public Set<Parked> parked() {
        return parked;
    }

    @Override
    public ParkedParts parkedParts() {
        return pool.parkedParts();
    }

    TaskQueue queue(Priority priority) {
        return priority == Priority.INTERACTIVE ? interactive : batch;
    }

    /** Queues a task that goes on, and wakes a worker that may run it. Any thread. */
    @Override
    public void resume(Task task) {
        goOn(task, task.priority() == Priority.INTERACTIVE ? resumed : resumedBatch);
    }

    /** Queues a task that goes on behind those that wait. Any thread. */
    void resumeLater(Task task) {
        if (!task.isMaintenance()) {
            pool.room(this, task.priority()).give(-1);
        }
        goOn(task, queue(task.priority()));
    }

    private void goOn(Task task, TaskQueue queue) {
        if (task.isMaintenance()) {
            pool.maintain(domain, task);
        } else {
            queue.put(task);
            pool.idle().added(this);
            watchDeadlineOf(task);
        }
    }

    /** Called when a task that has begun waits: its deadline may pass meanwhile. */
    @Override
    public void watchDeadlineOf(Task task) {
        if (task.hasDeadline()) {
            pool.watch().armForOverdue();
        }
    }

    /** Whether a task waits, or is about to. Any thread. */
    boolean hasTasks() {
        return hasInteractive() || batch.hasTasks() || resumedBatch.hasTasks();
    }

    boolean hasInteractive() {
        return interactive.hasTasks() || resumed.hasTasks();
    }

    /** The number of waiting tasks. Any thread. */
    int waiting() {
        return waitingInteractive() + waitingBatch();
    }

    int waitingInteractive() {
        return interactive.waiting() + resumed.waiting();
    }

    int waitingBatch() {
        return batch.waiting() + resumedBatch.waiting();
    }

    /** The number of waiting tasks, plus 1 if one runs. Any thread. */
    int load() {
        return waiting() + (idle ? 0 : 1);
    }

    /** Whether the task just run is to be measured: one in {@link CrossingCost#TASKS_PER_MEASURE}. Only in the worker's thread. */
    boolean measuresThis() {
        tasksUntilMeasure--;
        if (tasksUntilMeasure > 0) {
            return false;
        }
        tasksUntilMeasure = CrossingCost.TASKS_PER_MEASURE;
        return true;
    }

    /** Notes the mean time of recent tasks. Only in the worker's thread. */
    void runsTasksOf(long meanNanos) {
        boolean isShort = meanNanos < SHORT_NANOS;
        // Not written needlessly: submitters read this cache line.
        if (isShort != shortTasks) {
            shortTasks = isShort;
        }
    }

    /** Whether recent tasks were so short that handing one to another core costs more than it saves. Any thread. */
    boolean runsShortTasks() {
        return shortTasks;
    }
}
