package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.topology.Pinner;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shared state of a worker: its rings and lists, and whether it sleeps. A {@link Runner} runs its tasks: the worker's thread,
 * or a fresh thread if that one is blocked in a task.
 *
 * <p>No wake-up is lost. A submitter first counts its task into a ring and then checks whether a worker sleeps; a worker first
 * marks itself as {@linkplain #asleep asleep} and then reads the counts of all queues it may take from. Both are sequentially consistent, so at
 * least one of the two sees the other (Dekker's algorithm): either the worker stays awake, or the submitter wakes it or another
 * worker of the domain in its place. That worker looks at the rings of the whole domain after it was woken; if it finds another
 * task to run there, it first wakes the workers of its shard that sleep although tasks wait at them. Likewise, a busy worker
 * publishes that it runs a task before it checks for waiting tasks, and a submitter counts its task before it checks whether the
 * worker is running: so one of them wakes a helper for the tasks behind a long one.
 */
final class Worker {
    private static final Counter[] COUNTERS = Counter.values();
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
    final int shard;
    final Ring interactive;
    final Ring batch;
    /** Resumed tasks, and accepted tasks for which rings had no place. */
    final TaskList resumed = new TaskList();
    /** Tasks that have yielded. */
    final TaskList yielded = new TaskList();
    /** Tasks that wait for bytes. */
    final ParkedTasks parked = new ParkedTasks();
    /** Failed tasks whose future could not be failed because memory was out. */
    final TaskList incomplete = new TaskList();

    final WorkerSources sources;

    /** Counted by the worker's thread. */
    private int tasksUntilMeasure = CrossingCost.TASKS_PER_MEASURE;

    /** Allocated once: delivery of a task must not allocate. */
    final Consumer<Task> resume = this::resume;

    /** The counters of each runner whose thread has not ended; guarded by this, as is {@link #ofEnded}. */
    private final Map<Runner, WorkerCounters> counters = new HashMap<>();

    private final WorkerCounters ofEnded = new WorkerCounters();

    private final WorkerPool pool;

    /**
     * The runner that sleeps or is about to, or null. Changed by compare-and-set: by the runner that marks or unmarks itself, and by
     * threads that wake it. A replaced runner whose blocked task has just ended may mark itself for a moment; it never replaces the
     * mark of the present runner.
     */
    private volatile @Nullable Runner asleep;

    /** Whether recent tasks were short; written by the worker's thread, and only if it changes. */
    private volatile boolean shortTasks;

    /** Written by each thread of the worker as it starts. */
    private volatile Pinner.@Nullable Result pin;
    /** The runner of the worker; after the start only {@link Watch} replaces it. */
    private volatile @Nullable Runner runner;

    Worker(int index, int domain, int shard, WorkerPool pool, int ringCapacity) {
        this.index = index;
        this.domain = domain;
        this.shard = shard;
        this.pool = pool;
        this.sources = new WorkerSources(this, pool);
        this.interactive = new Ring(ringCapacity);
        this.batch = new Ring(ringCapacity);
    }

    /** Starts a fresh thread for the worker; the current thread, if any, ends after the task it runs. */
    void start() {
        Runner fresh = new Runner(this, pool, runner);
        // Started before it replaces the current runner, which must stay in place if there is no memory for a thread.
        try {
            fresh.start();
        } catch (Throwable noThread) {
            ended(fresh);
            throw noThread;
        }
        runBy(fresh);
    }

    void runBy(Runner fresh) {
        Runner before = runner;
        runner = fresh;
        // The runner before marks itself as asleep and then reads the runner; this reads in the opposite order.
        // So either that runner sees that it was replaced, or it is woken here.
        if (before != null && asleep == before) {
            pool.platform().unpark(this, before.thread());
        }
    }

    /** Registers the counters of a runner, which is their only writer. */
    synchronized void counts(Runner one, WorkerCounters its) {
        counters.put(one, its);
    }

    /** Adds the counters of an ended runner to {@link #ofEnded}, and drops them. */
    synchronized void ended(Runner one) {
        WorkerCounters ofRunner = counters.remove(one);
        if (ofRunner != null) {
            for (Counter counter : COUNTERS) {
                ofEnded.add(counter, ofRunner.get(counter));
            }
        }
    }

    synchronized long count(Counter counter) {
        long sum = ofEnded.get(counter);
        for (WorkerCounters ofRunner : counters.values()) {
            sum += ofRunner.get(counter);
        }
        return sum;
    }

    boolean isRunBy(@Nullable Runner one) {
        return runner == one;
    }

    @Nullable
    Runner runner() {
        return runner;
    }

    /** Puts a task into the list of resumed tasks and wakes a worker that may run it. Any thread; allocates nothing. */
    void resume(Task task) {
        resume(task, resumed);
    }

    /** As {@link #resume}, with the list of yielded tasks. */
    void resumeLater(Task task) {
        resume(task, yielded);
    }

    private void resume(Task task, TaskList list) {
        if (task.isMaintenance()) {
            pool.maintain(domain, task);
        } else {
            list.add(task);
            pool.wakeups().added(this);
        }
    }

    /** Marks the worker as asleep; the runner then checks whether it may sleep, which it may not if it was replaced. */
    void parks(Runner one) {
        Runner before = asleep;
        while (before != one && (before == null || isRunBy(one))) {
            if (ASLEEP.compareAndSet(this, before, one)) {
                return;
            }
            before = asleep;
        }
    }

    void getsUp(Runner one) {
        if (asleep == one) {
            ASLEEP.compareAndSet(this, one, null);
        }
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

    /** Updates {@link #shortTasks} by the mean time of recent tasks. Only in the worker's thread. */
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

    /** Whether the worker sleeps or is about to. Any thread. */
    boolean isParked() {
        return asleep != null;
    }

    /** Wakes the worker if it sleeps; true if this call did. Any thread. */
    boolean wake() {
        Runner sleeper = asleep;
        if (sleeper != null && ASLEEP.compareAndSet(this, sleeper, null)) {
            pool.platform().unpark(this, sleeper.thread());
            return true;
        }
        return false;
    }

    /** The number of tasks in its rings and in its lists of resumed and yielded tasks. Any thread. */
    int waiting() {
        return interactive.waiting() + batch.waiting() + resumed.size() + yielded.size();
    }

    /** The number of waiting tasks, plus 1 if one runs. Any thread. */
    int load() {
        return waiting() + (isRunning() ? 1 : 0);
    }

    boolean isRunning() {
        Runner now = runner;
        return now != null && now.isRunning();
    }

    boolean isOf(WorkerPool other) {
        return pool == other;
    }

    boolean isFailing() {
        return pool.failure() != null;
    }

    Ring ring(Priority priority) {
        return priority == Priority.INTERACTIVE ? interactive : batch;
    }

    Pinner.@Nullable Result pin() {
        return pin;
    }

    void pinned(Pinner.Result result) {
        pin = result;
    }

    /** Takes a task from its rings, for another worker or to fail it; not claimed by this. */
    @Nullable
    Task pollRings(boolean alsoBatch) {
        Task task = interactive.poll();
        return task == null && alsoBatch ? batch.poll() : task;
    }

    /** Fails the tasks that wait at this worker, and resumes the parked ones so that they fail. Any thread. */
    void failWaiting(Throwable cause) {
        for (Task task = pollRings(true); task != null; task = pollRings(true)) {
            if (task.claim()) {
                pool.completion().failOwned(task, this, cause);
            }
        }
        parked.release();
        failAll(resumed, cause);
        failAll(yielded, cause);
        failAll(incomplete, cause);
    }

    /** Fails as many tasks as the list has now: if memory is out, a task may come back. */
    private void failAll(TaskList list, Throwable cause) {
        for (int left = list.size(); left > 0; left--) {
            Task task = list.poll();
            if (task != null) {
                pool.completion().failOwned(task, this, cause);
            }
        }
    }
}
