package io.github.roost.core.pool;

import io.github.roost.core.DeadlineExceededException;
import io.github.roost.core.MappingId;
import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.Priority;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.Indexing.StallRule;
import io.github.roost.core.spi.TableUse;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.ParkedParts;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Room;
import io.github.roost.core.task.Task;
import io.github.roost.core.task.Task.Outcome;
import io.github.roost.core.task.TaskQueue;
import io.github.roost.topology.Core;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.system.TimeSlice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one orchestrator and their life: starts them, ends tasks, replaces blocked threads, tells of their state, and ends
 * them. {@link Dispatch} puts tasks into queues, {@link IdleWorkers} wakes workers.
 *
 * <p>A slice that throws fails its task. An error anywhere else, or a task that cannot even be failed, {@linkplain #breaks breaks} the pool: all
 * tasks fail, and no other is accepted. Thread-safe.
 */
public final class WorkerPool {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
    private static final WorkerSources.Added[] NO_SOURCES = {};
    private static final int PRIORITIES = Priority.values().length;
    /** The pool whose answer the calling thread delivers; null for none. */
    private static final ThreadLocal<WorkerPool> DELIVERED = new ThreadLocal<>();
    /** How long the thread of an ended runner waits for another. */
    private static final long SPARE_SECONDS = 1;

    /**
     * The configuration of a pool.
     *
     * @param owned whether a mapping id is of a table that this pool's orchestrator places
     */
    public record Setup(
            WorkerLayout layout,
            SchedulingPolicy scheduling,
            Function<Core, Pinner.Result> pinner,
            IntSupplier callerCpu,
            CrossDomainGate gate,
            IdleStrategy idleStrategy,
            int queueCapacity,
            double maintenanceShare,
            TrafficMonitor monitor,
            Predicate<MappingId> owned,
            PoolListener listener) {}

    private final Setup setup;
    private final Platform platform;
    private final WorkerLayout layout;
    private final CallerCore callerCore;
    private final Worker[] workers;
    /** Per domain, the maintenance that waits for its next step. */
    private final TaskQueue[] maintenance;
    /** Per domain and priority, the submitters that wait for room. */
    private final Room[] rooms;

    private final ParkedParts parkedParts = new ParkedParts();
    private final IdleWorkers idle;
    /** Of the thread that makes the pool, 0 if not known: threads of workers inherit theirs from each other. */
    private final long usualTimeSlice;

    private final CrossDomainHelp help;
    private final Overdue overdue;
    private final Watch watch;
    private final Dispatch dispatch;
    /** Outcomes of tasks that did not end on a worker. */
    private final LongAdder[] elsewhere = new LongAdder[Outcome.values().length];
    /** Maintenance accepted and not ended, which no epoch counts. */
    private final AtomicLong maintained = new AtomicLong();
    /** All threads of workers that have not ended. */
    private final Set<WorkerThread> threads = ConcurrentHashMap.newKeySet();
    /** Runners that were replaced while blocked, until they end. */
    private final Set<Runner> blocked = ConcurrentHashMap.newKeySet();
    /** Tasks that run in threads of their submitters. */
    private final Set<Task> inCallers = ConcurrentHashMap.newKeySet();
    /** Hands runners to threads whose runner has ended. */
    private final SynchronousQueue<Runner> spares = new SynchronousQueue<>();
    /** Replaced under the lock of this object. */
    private volatile WorkerSources.Added[] sources = NO_SOURCES;

    private volatile StallRule.@Nullable Factory stallRule;
    /** Written once by {@link #terminate}. */
    private volatile boolean terminated;
    /** Written once: from then on queued tasks fail instead of running. */
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    /** The error that has broken the pool. */
    private volatile @Nullable Throwable broken;

    /** @param tickets source of the tickets passed to the dispatcher */
    public WorkerPool(Setup setup, Dispatcher dispatcher, LongSupplier tickets) {
        this(setup, dispatcher, tickets, Platform.SYSTEM);
    }

    WorkerPool(Setup setup, Dispatcher dispatcher, LongSupplier tickets, Platform platform) {
        this.setup = setup;
        this.platform = platform;
        this.usualTimeSlice = TimeSlice.nanos();
        this.layout = setup.layout();
        this.callerCore = new CallerCore(setup.callerCpu(), layout.cpus());
        this.maintenance = new TaskQueue[layout.domains()];
        Arrays.setAll(maintenance, domain -> new TaskQueue());
        Arrays.setAll(elsewhere, outcome -> new LongAdder());
        this.idle = new IdleWorkers(this, setup, callerCore);
        this.workers = new Worker[layout.workers()];
        Arrays.setAll(workers, worker -> new Worker(worker, layout.domainOf(worker), this));
        this.rooms = new Room[layout.domains() * PRIORITIES];
        Arrays.setAll(rooms, this::newRoom);
        this.help = new CrossDomainHelp(this, setup);
        this.overdue = new Overdue(this);
        this.watch = new Watch(this, help, overdue);
        this.dispatch = new Dispatch(this, setup, dispatcher, tickets);
    }

    public void start() {
        watch.start();
        for (Worker worker : workers) {
            worker.start();
        }
    }

    // ---- Its parts.

    public Dispatch dispatch() {
        return dispatch;
    }

    /** The time slice of a thread that is no worker, in nanoseconds; 0 if not known. */
    long usualTimeSlice() {
        return usualTimeSlice;
    }

    CrossDomainHelp help() {
        return help;
    }

    ParkedParts parkedParts() {
        return parkedParts;
    }

    IdleWorkers idle() {
        return idle;
    }

    Watch watch() {
        return watch;
    }

    Platform platform() {
        return platform;
    }

    WorkerLayout layout() {
        return layout;
    }

    StealOrder stealOrder(int worker) {
        return StealOrder.of(setup.scheduling(), layout, worker);
    }

    double maintenanceShare() {
        return setup.maintenanceShare();
    }

    IdleStrategy idleStrategy() {
        return setup.idleStrategy();
    }

    TrafficMonitor monitor() {
        return setup.monitor();
    }

    Worker worker(int worker) {
        return workers[worker];
    }

    // ---- Tasks that wait, and room.

    /** Puts a task of maintenance into the queue of a domain, and wakes a worker. */
    void maintain(int domain, Task task) {
        maintenance[domain].put(task);
        idle.addedMaintenance(domain);
    }

    /** The maintenance of a domain that waits for its next step. */
    TaskQueue maintenance(int domain) {
        return maintenance[domain];
    }

    private Room newRoom(int index) {
        int domain = index / PRIORITIES;
        Priority priority = Priority.values()[index % PRIORITIES];
        int first = layout.workerIn(domain, 0);
        int count = layout.workersIn(domain);
        return new Room((long) setup.queueCapacity() * count, () -> {
            long ended = 0;
            for (int worker = first; worker < first + count; worker++) {
                ended += workers[worker].queue(priority).ended();
            }
            return ended;
        });
    }

    Room room(int domain, Priority priority) {
        return rooms[domain * PRIORITIES + priority.ordinal()];
    }

    /** The room in the queues that a worker shares with its domain. */
    Room room(Worker worker, Priority priority) {
        return room(worker.domain, priority);
    }

    /** Takes tasks whose result is not needed, or whose deadline has passed, out of the queues of a domain. */
    void sweep(int domain, Priority priority) {
        for (int i = 0; i < layout.workersIn(domain); i++) {
            Worker worker = workers[layout.workerIn(domain, i)];
            overdue.sweep(worker, worker.queue(priority));
        }
    }

    /** Called when a worker of a domain is about to sleep: tasks of other domains may grow old meanwhile. */
    void aboutToSleep(Worker worker) {
        if (help.isGated() && layout.domains() > 1 && (watch.isArmed() || waitsElsewhere(worker.domain))) {
            watch.lookSoon();
        }
    }

    private boolean waitsElsewhere(int domain) {
        for (Worker worker : workers) {
            if (worker.domain != domain && worker.hasTasks()) {
                return true;
            }
        }
        return false;
    }

    /** The number of tasks that wait in the queues of a domain. */
    public int waitingIn(int domain) {
        int waiting = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            waiting += workers[layout.workerIn(domain, i)].waiting();
        }
        return waiting;
    }

    /** Whether a task waits in a domain, or is about to. */
    boolean anythingWaitsIn(int domain) {
        if (maintenance[domain].hasTasks()) {
            return true;
        }
        for (int i = 0; i < layout.workersIn(domain); i++) {
            if (workers[layout.workerIn(domain, i)].hasTasks()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a task waits anywhere, or is about to. */
    boolean anythingWaits() {
        for (Worker worker : workers) {
            if (worker.hasTasks()) {
                return true;
            }
        }
        return false;
    }

    /** The number of idle workers of a domain minus the number of waiting tasks; at least 0. */
    public int freeIn(int domain) {
        int nothingToDo = idle.idle(domain);
        return nothingToDo == 0 ? 0 : Math.max(0, nothingToDo - waitingIn(domain));
    }

    /**
     * Whether there are free workers left after {@code held} more tasks are placed.
     *
     * @param held number of tasks that are created but not placed yet
     */
    boolean anyFree(int held) {
        int free = -held;
        for (int domain = 0; domain < layout.domains(); domain++) {
            free += freeIn(domain);
            if (free > 0) {
                return true;
            }
        }
        return false;
    }

    // ---- The end of tasks.

    /** Called when a task has ended on a worker: counts it out, and hands over the tasks that continue after it. */
    void finish(Task task, Runner runner, Consumer<Task> goesOn) {
        TableUse use = task.use();
        if (use == null && runner.hasLane()) {
            task.epoch().exitOwn(runner.worker().index);
        } else {
            countOut(task, use);
        }
        task.deliver(goesOn);
    }

    /** As {@link #finish(Task, Runner, Consumer)}, in any thread. */
    void finish(Task task, Consumer<Task> goesOn) {
        countOut(task, task.use());
        task.deliver(goesOn);
    }

    private void countOut(Task task, @Nullable TableUse use) {
        long lane = Thread.currentThread().threadId();
        if (use == null) {
            task.epoch().exit(lane);
            return;
        }
        use.exit(lane);
        if (task instanceof Request.Maintenance<?, ?>) {
            maintenanceEnds();
        }
    }

    /** Called when maintenance is accepted, which no epoch counts. */
    public void maintenanceBegins() {
        maintained.getAndIncrement();
    }

    /** Called when maintenance has ended, or was not accepted after all. */
    public void maintenanceEnds() {
        maintained.getAndDecrement();
    }

    /** Makes the watch look for searches whose deadline passes while they wait. */
    public void watchDeadlines() {
        watch.armForOverdue();
    }

    /** The number of accepted tasks of maintenance that have not ended. */
    public long unfinishedMaintenance() {
        return maintained.get();
    }

    /**
     * Fails a request that was not accepted, since its deadline has passed meanwhile.
     *
     * @param tasks the number of its tasks
     */
    public void refuseLate(Task request, int tasks) {
        elsewhere[Outcome.EXPIRED.ordinal()].add(tasks);
        request.fail(new DeadlineExceededException(System.nanoTime() - request.deadlineNanos()));
        request.deliver(none -> {});
    }

    /** Fails a task that the caller owns and whose outcome has not been counted. */
    void fail(Task task, Worker worker, Throwable cause) {
        countElsewhere(task, Outcome.FAILED);
        failBooked(task, worker, cause);
    }

    /** As {@link #fail}, if the failure has been counted. */
    void failBooked(Task task, Worker worker, Throwable cause) {
        try {
            task.fail(cause);
        } catch (Throwable again) {
            breaks(again);
        }
        finish(task, worker.resume);
    }

    /** Ends a task that the caller owns, and whose future is done, outside of a worker. */
    void endElsewhere(Task task, Worker worker, Outcome outcome) {
        countElsewhere(task, outcome);
        finish(task, worker.resume);
    }

    void countElsewhere(Task task, Outcome outcome) {
        if (task.countsAsTask()) {
            elsewhere[outcome.ordinal()].increment();
        }
    }

    /** The number of tasks that ended outside of workers with an outcome. */
    public long endedElsewhere(Outcome outcome) {
        return elsewhere[outcome.ordinal()].sum();
    }

    // ---- Threads.

    /** Starts a runner, in a spare thread if there is one. */
    void start(Runner runner) {
        if (spares.offer(runner)) {
            return;
        }
        WorkerThread thread = new WorkerThread(this, runner);
        threads.add(thread);
        try {
            thread.start();
        } catch (Throwable noThread) {
            threads.remove(thread);
            runner.worker().ended(runner);
            throw noThread;
        }
    }

    /** Called by a thread whose runner has ended; returns another runner, or null: then the thread ends. */
    @Nullable
    Runner ended(Runner runner, WorkerThread thread) {
        blocked.remove(runner);
        runner.worker().ended(runner);
        Runner next = null;
        try {
            // Terminating threads interrupt this one.
            next = terminated ? null : spares.poll(SPARE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException ends) {
            next = null;
        } finally {
            if (next == null) {
                threads.remove(thread);
            }
        }
        return next;
    }

    /** Whether any worker runs a slice that may block its thread. */
    boolean mayBlock() {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null && runner.slices().mayBlock()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether there is work that a blocked worker keeps waiting: tasks, parked tasks, whose completions only this worker sees, or
     * maintenance, for which the other workers of the domain may wait in the same way.
     */
    boolean dependsOn(Worker worker) {
        return worker.hasTasks() || maintenance(worker.domain).hasTasks() || !worker.parked.isEmpty();
    }

    /** Gives a worker a fresh thread in place of a blocked one; false if too many are blocked, or there is no memory for a thread. */
    synchronized boolean relieve(Worker worker, Runner runner) {
        if (blocked.size() >= Watch.MAX_BLOCKED) {
            return false;
        }
        if (terminated || !worker.isRunBy(runner)) {
            return true;
        }
        blocked.add(runner);
        try {
            worker.start();
        } catch (OutOfMemoryError noThread) {
            blocked.remove(runner);
            LOG.warn("worker {} stays blocked: no thread could be started in its place", worker.index, noThread);
            return false;
        }
        return true;
    }

    /** The number of threads that were replaced because they were blocked, and have not ended. */
    public int blockedThreads() {
        return blocked.size();
    }

    private @Nullable Runner callingRunner() {
        return Thread.currentThread() instanceof WorkerThread thread
                        && thread.runner().worker().isOf(this)
                ? thread.runner()
                : null;
    }

    /** The index of the worker of the calling thread, or -1 if it is not a worker's thread of this pool. */
    public int callingWorker() {
        Runner runner = callingRunner();
        return runner == null ? -1 : runner.worker().index;
    }

    /** Records that the calling thread has put a task into a queue; no effect outside of workers. A worker of another pool may only wait for it. */
    void submitted(Task task, TaskQueue queue, long place) {
        if (Thread.currentThread() instanceof WorkerThread thread) {
            Runner runner = thread.runner();
            if (runner.worker().isOf(this)) {
                runner.submitted(task, queue, place);
            } else {
                runner.aboutToBlock();
            }
        }
    }

    /** Called by a thread that may block: if it is a worker's, of any pool, and tasks wait behind it meanwhile, the worker gets a fresh thread. */
    public static void aboutToBlock() {
        if (Thread.currentThread() instanceof WorkerThread thread) {
            thread.runner().aboutToBlock();
        }
    }

    /** Called by a thread that blocks now: if it is a worker's, of any pool, the worker gets a fresh thread at once. */
    static void blocks() {
        if (Thread.currentThread() instanceof WorkerThread thread) {
            thread.runner().handOver();
        }
    }

    /** Called before the calling thread waits for a future: a worker runs its own children first, then gets a fresh thread. */
    public static void beforeWait(Future<?> future) {
        if (Thread.currentThread() instanceof WorkerThread thread) {
            thread.runner().beforeWait(future);
        }
    }

    /** In a worker's thread, runs waiting interactive tasks. */
    public void yieldToSearches() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.batchYield().yieldToSearches();
        }
    }

    /** Pins the calling thread of a worker. If the pinner throws, the worker stays unpinned: a fresh thread would fail as well. */
    Pinner.Result pin(Worker worker) {
        Core core = layout.coreOf(worker.index);
        try {
            Pinner.Result pin = setup.pinner().apply(core);
            callerCore.pinned(worker.index, pin);
            return pin;
        } catch (Throwable e) {
            LOG.warn("worker {} of cache domain {} is not pinned: its pinner failed", worker.index, worker.domain, e);
            return new Pinner.Result(core.pus(), List.of(), -1, false, "the pinner failed: " + e);
        }
    }

    void idleStrategyFailed(Worker worker, Throwable failed) {
        LOG.warn(
                "worker {} of cache domain {} sleeps from now on whenever it finds nothing: its idle strategy failed",
                worker.index,
                worker.domain,
                failed);
    }

    // ---- The state of workers.

    /** The load of the workers for the dispatcher. */
    LoadView loadView() {
        return new LoadView() {
            @Override
            public int load(int worker) {
                return WorkerPool.this.load(worker);
            }

            @Override
            public boolean noneAsleepBeside(int worker) {
                return !idle.anyAsleep(workers[worker].domain);
            }

            @Override
            public int nearCaller(int worker) {
                return WorkerPool.this.nearCaller(workers[worker]);
            }
        };
    }

    private int nearCaller(Worker usual) {
        if (!usual.runsShortTasks()) {
            return -1;
        }
        int near = callerCore.worker();
        return near >= 0 && workers[near].domain == usual.domain && workers[near].runsShortTasks() ? near : -1;
    }

    /** The number of tasks that wait at a worker, plus 1 if it runs one. */
    public int load(int worker) {
        return workers[worker].load();
    }

    /** The number of tasks that wait at a worker. */
    public int waiting(int worker) {
        return workers[worker].waiting();
    }

    /** The number of parked searches of all workers. */
    int parked() {
        return Arrays.stream(workers).mapToInt(worker -> worker.parked.size()).sum();
    }

    /** The number of parked searches of a domain's workers. */
    public int parkedIn(int domain) {
        int parked = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            parked += workers[layout.workerIn(domain, i)].parked.size();
        }
        return parked;
    }

    /** The number of tasks of maintenance of a domain that wait for their next step. */
    public int maintenanceIn(int domain) {
        return maintenance[domain].waiting();
    }

    /** The domain of a worker. */
    public int domainOf(int worker) {
        return layout.domainOf(worker);
    }

    /** Number of workers. */
    public int workers() {
        return workers.length;
    }

    /** Sets the rule by which workers fill their stalls, from a worker's next stall on; null for steps of the default length. */
    public void stallRule(StallRule.@Nullable Factory factory) {
        stallRule = factory;
    }

    public StallRule.@Nullable Factory stallRule() {
        return stallRule;
    }

    /** The result of pinning a worker, or null if its thread has not been pinned yet. */
    public Pinner.@Nullable Result pinOf(int worker) {
        return workers[worker].pin();
    }

    /** The counters of a worker since it started. */
    public WorkerCounters countsOf(int worker) {
        return workers[worker].counts();
    }

    static Counter counterOf(Outcome outcome) {
        return switch (outcome) {
            case COMPLETED -> Counter.COMPLETED;
            case FAILED -> Counter.FAILED;
            case CANCELLED -> Counter.CANCELLED;
            case EXPIRED -> Counter.EXPIRED;
        };
    }

    /** Called before a task that was taken from another domain runs. */
    void crossSteal(Worker thief, Worker victim, Task task) {
        if (help.rule().wakesNext(thief.domain, victim.domain)) {
            idle.wakeAfter(thief);
        }
        setup.listener().crossSteal(thief.index, victim.index, task.slot());
    }

    void ran(Task task, int worker, long nanos) {
        setup.listener().ran(task.slot(), worker, nanos);
    }

    // ---- Completion sources.

    /** Adds a completion source; each worker opens its own instance at its next look. Closing the result removes it. */
    public synchronized CompletionSource.Handle addSource(CompletionSource.Factory factory) {
        WorkerSources.Added added = new WorkerSources.Added(factory, this::removeSource);
        WorkerSources.Added[] more = Arrays.copyOf(sources, sources.length + 1);
        more[sources.length] = added;
        sources = more;
        for (Worker worker : workers) {
            idle.wake(worker);
        }
        return added;
    }

    private void removeSource(WorkerSources.Added removed) {
        synchronized (this) {
            sources = Arrays.stream(sources).filter(one -> one != removed).toArray(WorkerSources.Added[]::new);
        }
        // A poll may run dependents of a future, so a worker's thread may hold the lock of its sources already, and
        // would wait for another's.
        boolean waits = !(Thread.currentThread() instanceof WorkerThread);
        for (Worker worker : workers) {
            if (waits) {
                worker.sources.drop(removed);
            } else {
                idle.wake(worker);
            }
        }
    }

    WorkerSources.Added[] sources() {
        return sources;
    }

    /** Logs the failure of a completion source; called once per worker. */
    void sourceFailed(Worker worker, Throwable failed) {
        LOG.error(
                "a source of completions of worker {} of cache domain {} failed", worker.index, worker.domain, failed);
    }

    // ---- Failing, and the end.

    @Nullable
    Throwable failure() {
        return failure.get();
    }

    boolean isTerminated() {
        return terminated;
    }

    /** Whether tasks that wait fail at once. */
    boolean failsWaiting() {
        return terminated || failure.get() != null;
    }

    /** The error that has broken the pool, or null. */
    public @Nullable Throwable broken() {
        return broken;
    }

    /** Breaks the pool because of an error that is not of a task's own code: fails all tasks, now and later. Throws nothing. */
    void breaks(Throwable error) {
        if (broken != null) {
            return;
        }
        broken = error;
        try {
            LOG.error(
                    "the orchestrator is broken by an error that is not a search's own: it fails all its searches",
                    error);
            setup.listener().broke(error);
        } finally {
            // Not in this thread, which may be out of stack.
            platform.deliver(() -> failEverything(new OrchestratorClosedException(error)));
        }
    }

    /** Makes all tasks fail with {@code cause} instead of running; tasks that run or wait now fail at once. */
    public void failEverything(Throwable cause) {
        failure.compareAndSet(null, cause);
        failRunning(cause);
        failWaiting();
    }

    private void failRunning(Throwable cause) {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null) {
                deliver(() -> runner.slices().failRunning(cause));
            }
        }
        blocked.forEach(runner -> deliver(() -> runner.slices().failRunning(cause)));
        inCallers.forEach(task -> deliver(() -> task.failRunning(cause)));
    }

    /** The tasks that run in threads of their submitters. */
    Set<Task> inCallers() {
        return inCallers;
    }

    /** Fails the tasks that wait, each in a thread of its own, since callbacks may block. */
    void failWaiting() {
        for (Worker worker : workers) {
            worker.parked.forEach(Parked::resume);
            failWaitingAt(worker);
        }
        for (int domain = 0; domain < maintenance.length; domain++) {
            failMaintenance(domain);
        }
        for (Room room : rooms) {
            room.made();
        }
    }

    void failWaitingAt(Worker worker) {
        for (TaskQueue queue : worker.queues) {
            failAll(queue, worker);
        }
    }

    void failMaintenance(int domain) {
        failAll(maintenance[domain], workers[layout.workerIn(domain, 0)]);
    }

    private void failAll(TaskQueue queue, Worker worker) {
        Throwable known = failure.get();
        Throwable cause = known == null ? new OrchestratorClosedException() : known;
        for (Task task = queue.poll(); task != null; task = queue.poll()) {
            Task failed = task;
            deliver(() -> fail(failed, worker, cause));
        }
    }

    /** Delivers an answer in a thread of its own, since callbacks may block. */
    void deliver(Runnable answer) {
        platform.deliver(() -> {
            DELIVERED.set(this);
            try {
                answer.run();
            } catch (Throwable unexpected) {
                breaks(unexpected);
            } finally {
                DELIVERED.remove();
            }
        });
    }

    /** Whether the calling thread delivers an answer: its task has not ended before the callbacks return, so they must not wait for that. */
    public boolean isDelivering() {
        return DELIVERED.get() == this;
    }

    /** Whether a submitter waits for room in any domain; if so, lets it try again, since a query of a batch queue that ends wakes nobody. */
    boolean anyRoomAwaited() {
        boolean any = false;
        for (Room room : rooms) {
            if (room.isAwaited()) {
                any = true;
                room.made();
            }
        }
        return any;
    }

    /**
     * Makes every worker end after the task it runs. After {@link #failEverything}, call this only some time later.
     *
     * <p>No task is left in a queue: a submitter puts it and then reads the flag, and this method sets the flag and then fails what waits.
     *
     * <p>{@link #failEverything} may have missed a task that was just starting: to avoid an expensive fence, a worker publishes the
     * task and checks for failure without one in between. By now the running task is visible, so running tasks are failed again.
     */
    public void terminate() {
        terminated = true;
        Throwable cause = failure.get();
        if (cause != null) {
            failRunning(cause);
        }
        failWaiting();
        for (Worker worker : workers) {
            idle.wake(worker);
        }
        for (WorkerThread thread : threads) {
            thread.endSpare();
        }
        watch.wake();
    }

    /** Waits for the threads of the workers and the watch to end; false if some still run after {@code timeout}. */
    public boolean join(Duration timeout) {
        List<Thread> all = new ArrayList<>(threads);
        all.add(watch.thread());
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        boolean ended = true;
        for (Thread thread : all) {
            while (thread != Thread.currentThread() && thread.isAlive()) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    ended = false;
                    break;
                }
                try {
                    thread.join(Duration.ofNanos(left));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return ended;
    }
}
