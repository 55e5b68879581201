package io.github.roost.core.pool;

import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.task.Priority;
import io.github.roost.topology.PinResult;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A worker as others see it: its rings and lists, and whether it sleeps. A {@link Runner} runs what is in them: the thread
 * of the worker, or a fresh one where that thread is blocked by what it runs.
 *
 * <p>No wake-up is lost: a submitter first counts its task into a ring and then looks whether a worker sleeps; a worker
 * first marks itself {@link #PARKED} and then looks at the counts of all it may take from. Both are sequentially consistent,
 * so at least one of the two sees the other (Dekker's argument): either the worker stays up, or the submitter wakes it, or
 * wakes another of the domain in its place. That one looks at the rings of the whole domain after it was woken; if it comes
 * upon something else to run there, it first wakes whoever sleeps on tasks of their own. A busy worker says that it runs
 * something before it looks whether more waits, and a submitter counts its task in before it looks whether the worker runs
 * something: so one of them wakes a helper for what comes behind a long task.
 */
final class Worker {
    private static final Counter[] COUNTERS = Counter.values();
    /**
     * Tasks below it are short: to hand one to another core, whose private cache may have its data, costs some hundred
     * nanoseconds of two cores.
     */
    static final long SHORT_NANOS = 500;

    private static final int UP = 0;
    private static final int PARKED = 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Worker.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final int index;
    final int domain;
    final int shard;
    final Ring interactive;
    final Ring batch;
    /** Tasks that have begun and go on now, and accepted ones for which there was no place in a ring. */
    final TaskList resumed = new TaskList();
    /** Tasks that have begun and let others go first. */
    final TaskList yielded = new TaskList();
    /** Tasks that wait for bytes. */
    final ParkedTasks parked = new ParkedTasks();
    /** Tasks that failed, and for want of memory could not be told so yet. */
    final TaskList unanswered = new TaskList();

    final WorkerSources sources;

    /** Counted by the worker's thread. */
    private int tasksUntilMeasure = CrossingCost.TASKS_PER_MEASURE;

    /** Made once: what follows a task must not need memory. */
    final Consumer<Task> resume = this::resume;

    /** Of each runner whose thread has not ended; guarded by this, as what follows. */
    private final Map<Runner, WorkerCounters> counters = new HashMap<>();

    private final WorkerCounters ofEnded = new WorkerCounters();

    private final WorkerPool pool;

    /** Written by the worker (to PARKED and back) and by who wakes it (to UP). */
    @SuppressWarnings("unused")
    private volatile int state = UP;

    /** Whether the last tasks were short; written by the worker's thread, and only where that changes. */
    private volatile boolean shortTasks;

    /** Written by the worker's thread as it starts; a fresh thread writes it anew. */
    private volatile @Nullable PinResult pin;
    /** Who runs the worker; replaced by {@link Watch} alone, once it has been started. */
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

    /** Has a fresh thread run the worker; who runs it now ends as soon as it is done with what it runs. */
    void start() {
        Runner fresh = new Runner(this, pool, runner);
        // Started first: without memory for a thread, who runs the worker must not have ended meanwhile.
        try {
            fresh.start();
        } catch (Throwable noThread) {
            ended(fresh);
            throw noThread;
        }
        runBy(fresh);
    }

    void runBy(Runner fresh) {
        runner = fresh;
    }

    /** Makes the counters of a runner, which alone writes them. */
    synchronized WorkerCounters countersOf(Runner one) {
        WorkerCounters ofRunner = new WorkerCounters();
        counters.put(one, ofRunner);
        return ofRunner;
    }

    /** What a runner has counted stays; its counters go. */
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

    /** Puts a task into the list of those that go on, and wakes one who may run it. Any thread; needs no memory. */
    void resume(Task task) {
        goOn(task, resumed);
    }

    /** As {@link #resume}, behind what waits. */
    void resumeLater(Task task) {
        goOn(task, yielded);
    }

    private void goOn(Task task, TaskList list) {
        if (task.isMaintenance()) {
            pool.maintain(domain, task);
        } else {
            list.add(task);
            pool.added(this);
        }
    }

    /** Marks this worker as one to be woken; the runner then looks whether it may sleep. */
    void parks() {
        state = PARKED;
    }

    void getsUp() {
        state = UP;
    }

    /** Whether the task that the calling thread, the worker's, has just run is one of those that are measured. */
    boolean measuresThis() {
        tasksUntilMeasure--;
        if (tasksUntilMeasure > 0) {
            return false;
        }
        tasksUntilMeasure = CrossingCost.TASKS_PER_MEASURE;
        return true;
    }

    /** Tasks have taken so long on the whole of late. The worker's thread. */
    void runsTasksOf(long meanNanos) {
        boolean isShort = meanNanos < SHORT_NANOS;
        // Submitters read the line that this is on.
        if (isShort != shortTasks) {
            shortTasks = isShort;
        }
    }

    /** Whether the last tasks were so short that to hand one to another core costs more than it saves. Any thread. */
    boolean runsShortTasks() {
        return shortTasks;
    }

    /** Whether the worker sleeps or is about to. Any thread. */
    boolean isParked() {
        return state == PARKED;
    }

    /** Wakes the worker if it sleeps; true if this call did. Any thread. */
    boolean wake() {
        if (state == PARKED && STATE.compareAndSet(this, PARKED, UP)) {
            Runner asleep = runner;
            if (asleep != null) {
                pool.platform().unpark(this, asleep.thread());
            }
            return true;
        }
        return false;
    }

    /** Tasks in its rings and its list. Any thread. */
    int waiting() {
        return interactive.waiting() + batch.waiting() + resumed.size() + yielded.size();
    }

    /** Tasks that wait and the one that runs. Any thread. */
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

    @Nullable
    PinResult pin() {
        return pin;
    }

    void pinned(PinResult result) {
        pin = result;
    }

    /** Takes a task that has not begun from its rings, for another worker; not yet claimed. */
    @Nullable
    Task pollRings(boolean alsoBatch) {
        Task task = interactive.poll();
        return task == null && alsoBatch ? batch.poll() : task;
    }

    /** Fails what waits here. Any thread. */
    void failWaiting(Throwable cause) {
        for (Task task = pollRings(true); task != null; task = pollRings(true)) {
            if (task.claim()) {
                pool.failOwned(task, this, cause);
            }
        }
        parked.release();
        failAll(resumed, cause);
        failAll(yielded, cause);
        failAll(unanswered, cause);
    }

    /** As many as are there now: for want of memory one may come back. */
    private void failAll(TaskList list, Throwable cause) {
        for (int left = list.size(); left > 0; left--) {
            Task task = list.poll();
            if (task != null) {
                pool.failOwned(task, this, cause);
            }
        }
    }
}
