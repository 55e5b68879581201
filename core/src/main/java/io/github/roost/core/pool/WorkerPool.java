package io.github.roost.core.pool;

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
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.spi.CompletionSource;
import io.github.roost.core.spi.Indexing.StallRule;
import io.github.roost.topology.Core;
import io.github.roost.topology.Pinner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one orchestrator and their life: starts them, puts tasks into their rings, replaces blocked ones, tells of their
 * state, and ends them. Waking is in {@link Wakeups}, help between domains in {@link CrossDomainHelp}, the end of a task in {@link
 * TaskCompletion}. Thread-safe.
 */
public final class WorkerPool {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
    private static final WorkerSources.Added[] NO_SOURCES = {};
    /** Maximum wait of termination for reserved places to be filled: a submitter needs well below a microsecond. */
    private static final long FILLING_NANOS = 100_000_000;

    /** The configuration of a pool. */
    public record Setup(
            WorkerLayout layout,
            SchedulingPolicy scheduling,
            Function<Core, Pinner.Result> pinner,
            IntSupplier callerCpu,
            CrossDomainGate gate,
            IdleStrategy idleStrategy,
            int ringCapacity,
            double maintenanceShare,
            TrafficMonitor monitor,
            PoolListener listener) {}

    private final Setup setup;
    private final Platform platform;
    private final WorkerLayout layout;
    private final CallerCore callerCore;
    private final Worker[] workers;
    private final ShardState[] shards;
    /** Per domain, the maintenance that waits for its next step. */
    private final TaskList[] maintenance;

    private final CrossDomainHelp help;
    private final Wakeups wakeups;
    private final TaskCompletion completion;
    private final Watch watch;
    private final Dispatch dispatch;
    // Not a LongAdder, which allocates when two threads add at once: memory may be out when this is counted.
    private final AtomicLong restarts = new AtomicLong();
    /** Runners that were replaced while blocked, until they end. */
    private final Set<Runner> blocked = ConcurrentHashMap.newKeySet();
    /** Replaced under the lock of this object. */
    private volatile WorkerSources.Added[] sources = NO_SOURCES;

    private volatile StallRule.@Nullable Factory stallRule;
    /** Written once by {@link #terminate}. */
    private volatile boolean terminated;
    /** Written once by {@link #failEverything}: from then on queued tasks fail instead of running. */
    private volatile @Nullable Throwable failure;

    /** @param tickets source of the tickets passed to the dispatcher */
    public WorkerPool(Setup setup, Dispatcher dispatcher, LongSupplier tickets) {
        this(setup, dispatcher, tickets, Platform.SYSTEM);
    }

    WorkerPool(Setup setup, Dispatcher dispatcher, LongSupplier tickets, Platform platform) {
        this.setup = setup;
        this.platform = platform;
        this.layout = setup.layout();
        this.callerCore = new CallerCore(setup.callerCpu(), layout.cpus());
        this.shards = new ShardState[layout.shards()];
        Arrays.setAll(shards, shard -> new ShardState());
        this.maintenance = new TaskList[layout.domains()];
        Arrays.setAll(maintenance, domain -> new TaskList());
        this.workers = new Worker[layout.workers()];
        Arrays.setAll(
                workers,
                worker -> new Worker(
                        worker, layout.domainOf(worker), layout.shardOf(worker), this, setup.ringCapacity()));
        this.help = new CrossDomainHelp(this, setup, shards, platform);
        this.wakeups = new Wakeups(this, setup, workers, shards, callerCore, help, platform);
        this.completion = new TaskCompletion(this);
        this.watch = new Watch(this, help, wakeups, completion);
        this.dispatch = new Dispatch(this, layout, dispatcher, tickets);
    }

    public void start() {
        watch.start();
        for (Worker worker : workers) {
            worker.start();
        }
    }

    public Dispatch dispatch() {
        return dispatch;
    }

    CrossDomainHelp help() {
        return help;
    }

    Wakeups wakeups() {
        return wakeups;
    }

    TaskCompletion completion() {
        return completion;
    }

    // ---- Putting tasks.

    /** Puts a task into a worker's ring and wakes a worker that should run it; false if the ring is full. */
    boolean offer(int worker, Priority priority, Task task) {
        boolean put = tryPut(worker, priority, task);
        if (put) {
            wakeups.added(workers[worker]);
        }
        return put;
    }

    /** Puts a task into a worker's ring; false if the ring is full. Call {@link Wakeups#added(int)} afterwards. */
    boolean tryPut(int worker, Priority priority, Task task) {
        Ring ring = workers[worker].ring(priority);
        long place = ring.reserve();
        if (place == Ring.FULL) {
            return false;
        }
        ring.put(place, task);
        return true;
    }

    /** Reserves a place in a worker's ring; returns its number, or {@link Ring#FULL}. */
    long reserve(int worker, Priority priority) {
        return workers[worker].ring(priority).reserve();
    }

    /** Releases a reserved place. */
    void release(int worker, Priority priority, long place, Ring.Hole hole) {
        workers[worker].ring(priority).release(place, hole);
    }

    /** Puts a task into a reserved place. Call {@link Wakeups#added(int)} afterwards. */
    void put(int worker, Priority priority, long place, Task task) {
        workers[worker].ring(priority).put(place, task);
    }

    /** Puts a task of maintenance into the list of a domain; throws nothing, as {@link Wakeups#added(Worker)}. */
    void maintain(int domain, Task task) {
        maintenance[domain].add(task);
        try {
            Faults.point();
            if (terminated) {
                failWaiting();
            }
            wakeups.wakeOneOf(domain);
        } catch (Throwable thrown) {
            wakeups.missedWakeup();
        }
    }

    /** The maintenance of a domain that waits for its next step. */
    TaskList maintenance(int domain) {
        return maintenance[domain];
    }

    /** The number of tasks that wait in the rings and lists of a domain. */
    public int waitingIn(int domain) {
        int waiting = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            waiting += workers[layout.workerIn(domain, i)].waiting();
        }
        return waiting;
    }

    /** The number of idle workers of a domain minus the number of waiting tasks; at least 0. */
    public int freeIn(int domain) {
        int idle = help.domains().idle(domain);
        return idle == 0 ? 0 : Math.max(0, idle - waitingIn(domain));
    }

    /** Whether any domain has more idle workers than waiting tasks. */
    boolean anyFree() {
        return anyFree(0);
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

    // ---- Blocked workers.

    /** Whether any worker runs a slice that may block its thread: see {@link Progress#mayBlock}. */
    boolean mayBlock() {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null && runner.progress().mayBlock()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether there is work that a blocked worker keeps waiting: tasks, parked tasks, whose completions and deadlines only this worker
     * sees, or maintenance, for which the other workers of the domain may wait in the same way.
     */
    boolean dependsOn(Worker worker, Runner runner) {
        return worker.waiting() > 0
                || maintenance(worker.domain).size() > 0
                || (!runner.progress().looksAgain() && !worker.parked.isEmpty());
    }

    /** Gives a worker a fresh thread in place of a blocked one; false if too many are blocked. */
    boolean relieve(Worker worker, Runner runner) {
        if (blocked.size() >= Watch.MAX_BLOCKED) {
            return false;
        }
        blocked.add(runner);
        try {
            worker.start();
        } catch (Throwable noThread) {
            blocked.remove(runner);
            throw noThread;
        }
        return true;
    }

    /** Called when a runner's thread is about to end. */
    void ended(Runner runner) {
        blocked.remove(runner);
        runner.worker().ended(runner);
    }

    /** The number of threads that were replaced because they were blocked, and have not ended. */
    public int blockedThreads() {
        return blocked.size();
    }

    Platform platform() {
        return platform;
    }

    Watch watch() {
        return watch;
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
                return noneAsleep(workers[worker].shard);
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

    private boolean noneAsleep(int shard) {
        // The count includes workers that were woken but have not left the count.
        if (shards[shard].parked() > 0) {
            for (int i = 0; i < layout.workersInShard(shard); i++) {
                if (workers[layout.workerInShard(shard, i)].isParked()) {
                    return false;
                }
            }
        }
        return true;
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
        return maintenance[domain].size();
    }

    /** The domain of a worker. */
    public int domainOf(int worker) {
        return layout.domainOf(worker);
    }

    /** Number of workers. */
    public int workers() {
        return workers.length;
    }

    Worker worker(int worker) {
        return workers[worker];
    }

    WorkerLayout layout() {
        return layout;
    }

    ShardState shard(int shard) {
        return shards[shard];
    }

    StealOrder stealOrder(int worker) {
        return StealOrder.of(setup.scheduling(), layout, worker);
    }

    /** Sets the rule by which workers fill their stalls, from a worker's next stall on; null for steps of the default length. */
    public void stallRule(StallRule.@Nullable Factory factory) {
        stallRule = factory;
    }

    public StallRule.@Nullable Factory stallRule() {
        return stallRule;
    }

    double maintenanceShare() {
        return setup.maintenanceShare();
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

    /** Records that the calling thread has submitted a task; no effect outside of this pool's workers. */
    public void submitted(Task task) {
        if (Thread.currentThread() instanceof WorkerThread thread
                && thread.runner().worker().isOf(this)) {
            thread.runner().waiting().submitted(task);
        }
    }

    /** Called by a worker's thread that is about to block: if tasks wait behind it meanwhile, the worker gets a fresh thread. */
    public void aboutToBlock() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.waiting().aboutToBlock();
        }
    }

    /** In a worker's thread, runs waiting interactive tasks. */
    public void yieldToSearches() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.batchYield().yieldToSearches();
        }
    }

    /** In a worker's thread, runs other tasks until a future is done, or the time is up. */
    public void helpUntilDone(Future<?> future, long untilNanos) {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.waiting().helpUntilDone(future, untilNanos);
        }
    }

    /** The result of pinning a worker, or null if its thread has not been pinned yet. */
    public Pinner.@Nullable Result pinOf(int worker) {
        return workers[worker].pin();
    }

    /** Whether a worker runs a task now. */
    public boolean isRunning(int worker) {
        return workers[worker].isRunning();
    }

    /** The counters of a worker since it started. */
    public WorkerTotals totalsOf(int worker) {
        Worker counted = workers[worker];
        return new WorkerTotals(
                counted.count(Counter.COMPLETED),
                counted.count(Counter.FAILED),
                counted.count(Counter.CANCELLED),
                counted.count(Counter.EXPIRED),
                counted.count(Counter.INTRA_STEALS),
                counted.count(Counter.CROSS_STEALS),
                counted.count(Counter.WAITS_TIMED),
                counted.count(Counter.WAIT_NANOS),
                counted.count(Counter.RUNS_TIMED),
                counted.count(Counter.RUN_NANOS),
                counted.count(Counter.PARKS));
    }

    /** The number of tasks failed outside of a slice, by close or after an error of a worker. */
    public long failedWaitingTasks() {
        return completion.failedWaiting();
    }

    /** The number of times a worker recovered from an error that did not come from a task's own code. */
    public long restartedWorkers() {
        return restarts.get();
    }

    static Counter counterOf(Outcome outcome) {
        return switch (outcome) {
            case COMPLETED -> Counter.COMPLETED;
            case FAILED -> Counter.FAILED;
            case CANCELLED -> Counter.CANCELLED;
            case EXPIRED -> Counter.EXPIRED;
        };
    }

    /** Adds a completion source; each worker opens its own instance at its next look. Closing the result removes it. */
    public synchronized CompletionSource.Handle addSource(CompletionSource.Factory factory) {
        WorkerSources.Added added = new WorkerSources.Added(factory, this::removeSource);
        WorkerSources.Added[] more = Arrays.copyOf(sources, sources.length + 1);
        more[sources.length] = added;
        sources = more;
        for (Worker worker : workers) {
            worker.wake();
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
                worker.wake();
            }
        }
    }

    WorkerSources.Added[] sources() {
        return sources;
    }

    IdleStrategy idleStrategy() {
        return setup.idleStrategy();
    }

    TrafficMonitor monitor() {
        return setup.monitor();
    }

    boolean isTerminated() {
        return terminated;
    }

    @Nullable
    Throwable failure() {
        return failure;
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

    /** Logs the failure of a completion source; called once per worker. Throws nothing. */
    void sourceFailed(Worker worker, Throwable failed) {
        try {
            LOG.error(
                    "a source of completions of worker {} of cache domain {} failed",
                    worker.index,
                    worker.domain,
                    failed);
        } catch (Throwable cannotTell) {
            armWatch();
        }
    }

    void crossSteal(int thief, int victim, Task task) {
        setup.listener().crossSteal(thief, victim, task.slot());
    }

    void ran(Task task, int worker, long nanos) {
        setup.listener().ran(task.slot(), worker, nanos);
    }

    /** Called when a worker recovers from an error that did not come from a task's own code. Throws nothing. */
    void restarted(Worker worker, Throwable unexpected) {
        restarts.incrementAndGet();
        try {
            LOG.error(
                    "worker {} of cache domain {} caught an error and continues",
                    worker.index,
                    worker.domain,
                    unexpected);
            setup.listener().workerRestarted(worker.index);
        } catch (Throwable cannotTell) {
            // There may be no memory for a message: then only the count above records the error.
            armWatch();
        }
    }

    // ---- Failing, and the end.

    /** Makes {@link Watch} look; throws nothing. */
    void armWatch() {
        try {
            watch.arm();
        } catch (Throwable thrown) {
            // It is armed nevertheless, and looks when it next wakes up.
            restarts.incrementAndGet();
        }
    }

    /** Makes all tasks fail with {@code cause} instead of running; tasks that run or wait now fail at once. */
    public void failEverything(Throwable cause) {
        failure = cause;
        failRunning(cause);
        failWaiting();
    }

    private void failRunning(Throwable cause) {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null) {
                runner.failRunning(cause);
            }
        }
        blocked.forEach(runner -> runner.failRunning(cause));
    }

    void failWaiting() {
        Throwable known = failure;
        Throwable cause = known == null ? new OrchestratorClosedException() : known;
        for (Worker worker : workers) {
            worker.failWaiting(cause);
        }
        for (int domain = 0; domain < maintenance.length; domain++) {
            Worker any = workers[layout.workerIn(domain, 0)];
            for (Task task = maintenance[domain].poll(); task != null; task = maintenance[domain].poll()) {
                completion.failOwned(task, any, cause);
            }
        }
    }

    /**
     * Makes every worker end after the task it runs. After {@link #failEverything}, call this only some time later.
     *
     * <p>No task is left in a ring. A submitter first reserves a place and finally checks whether the pool is terminated; this
     * method first sets that flag and then looks for reserved places. At least one sees the other, as with the wake-ups of {@link
     * Worker}; if it is this method, it waits until the place is filled.
     *
     * <p>{@link #failEverything} may have missed a task that was just starting: to avoid an expensive fence, a worker publishes the
     * task and checks for failure without one in between. By now the running task is visible, so running tasks are failed again.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a submitter needs well below a microsecond to fill the place it reserved
    public void terminate() {
        terminated = true;
        Throwable cause = failure;
        if (cause != null) {
            failRunning(cause);
        }
        long end = System.nanoTime() + FILLING_NANOS;
        failWaiting();
        while (anythingWaits() && System.nanoTime() - end < 0) {
            Thread.yield();
            failWaiting();
        }
        for (Worker worker : workers) {
            worker.wake();
        }
        watch.wake();
    }

    boolean anythingWaits() {
        for (Worker worker : workers) {
            if (worker.waiting() > 0) {
                return true;
            }
        }
        return false;
    }

    /** Waits for the threads of the workers and the watch to end; false if some still run after {@code timeout}. */
    public boolean join(Duration timeout) {
        List<Thread> threads = new ArrayList<>();
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null) {
                threads.add(runner.thread());
            }
        }
        blocked.forEach(runner -> threads.add(runner.thread()));
        threads.add(watch.thread());
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        boolean ended = true;
        for (Thread thread : threads) {
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
