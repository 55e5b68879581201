package io.github.roost.core.pool;

import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.LoadView;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.WakePolicy;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.policy.Backlog;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.policy.SchedulingPolicy.Reach;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.stall.StallPolicy;
import io.github.roost.core.stall.StallStats;
import io.github.roost.core.task.CompletionSource;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Priority;
import io.github.roost.core.task.TableUse;
import io.github.roost.topology.Core;
import io.github.roost.topology.PinResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one orchestrator: puts tasks into rings, wakes workers, and holds the state that workers share. Thread-safe.
 */
public final class WorkerPool {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
    private static final CompletionSource.Factory[] NO_SOURCES = {};
    /** Maximum wait of termination for reserved places to be filled: a submitter needs well below a microsecond. */
    private static final long FILLING_NANOS = 100_000_000;

    /** The configuration of a pool. */
    public record Setup(
            WorkerLayout layout,
            SchedulingPolicy scheduling,
            Function<Core, PinResult> pinner,
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

    private final AtomicReferenceArray<Backlog> backlogs;
    private final AtomicReferenceArray<CrossingCost> crossings;
    private final WakePolicy.Domains domains = new SeenDomains();
    private final WakePolicy wakes;
    private final Watch watch;
    private final Dispatch dispatch;
    // Not LongAdders, which allocate when two threads add at once: both are counted when memory may be out.
    private final AtomicLong restarts = new AtomicLong();
    private final AtomicLong failedWaiting = new AtomicLong();
    /** Runners that were replaced while blocked, until they end. */
    private final Set<Runner> blocked = ConcurrentHashMap.newKeySet();
    /** Grown under the lock of this object. */
    private volatile CompletionSource.Factory[] sources = NO_SOURCES;
    /** Set if an error may have prevented a wake-up; {@link Watch} then wakes the workers. */
    private volatile boolean mayBeOverlooked;
    /** An epoch that could not be retired, together with earlier ones, because memory was out. */
    private volatile @Nullable Epoch unretired;
    /** The use of a table that could not be ended, if its last user has left, because memory was out. */
    private volatile @Nullable TableUse untold;

    private volatile StallPolicy stalls = StallPolicy.POLLED;
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
        this.backlogs = new AtomicReferenceArray<>(layout.domains());
        for (int domain = 0; domain < layout.domains(); domain++) {
            backlogs.set(domain, Backlog.NONE);
        }
        this.crossings = new AtomicReferenceArray<>(layout.domains());
        for (int domain = 0; domain < layout.domains(); domain++) {
            crossings.set(domain, CrossingCost.UNKNOWN);
        }
        this.workers = new Worker[layout.workers()];
        Arrays.setAll(
                workers,
                worker -> new Worker(
                        worker, layout.domainOf(worker), layout.shardOf(worker), this, setup.ringCapacity()));
        this.wakes = new WakePolicy(layout, setup.scheduling(), setup.gate(), domains);
        this.watch = new Watch(this, wakes);
        this.dispatch = new Dispatch(this, layout, dispatcher, tickets);
    }

    /** Starts every worker's thread. */
    public void start() {
        watch.start();
        for (Worker worker : workers) {
            worker.start();
        }
    }

    /** The dispatch of this pool. */
    public Dispatch dispatch() {
        return dispatch;
    }

    // ---- Putting tasks, and waking workers for them.

    /** Puts a task into a worker's ring and wakes a worker that should run it; false if the ring is full. */
    boolean offer(int worker, Priority priority, Task task) {
        boolean put = tryPut(worker, priority, task);
        if (put) {
            added(worker);
        }
        return put;
    }

    /** Puts a task into a worker's ring; false if the ring is full. Call {@link #added(int)} afterwards. */
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

    /** Puts a task into a reserved place. Call {@link #added(int)} afterwards. */
    void put(int worker, Priority priority, long place, Task task) {
        workers[worker].ring(priority).put(place, task);
    }

    /** As {@link #added(Worker)}. */
    void added(int worker) {
        added(workers[worker]);
    }

    /**
     * Wakes a worker after a task was put where a worker finds it. The task is accepted by then, so this throws nothing. If memory
     * or stack is out, the wake-up may be missed; then {@link Watch} or the next task wakes a worker.
     */
    void added(Worker target) {
        try {
            Faults.point();
            if (terminated) {
                // The terminating thread may have stopped waiting for this task.
                failWaiting();
            }
            boolean wasParked = target.isParked();
            if (wasParked) {
                wakeTarget(target);
            }
            if (mayNeedHelp(target) && (wasParked ? target.waiting() > 1 : target.isRunning())) {
                wakeHelper(target);
            }
        } catch (Throwable struck) {
            overlooked();
        }
    }

    /** Called if an error may have prevented a wake-up: makes {@link Watch} wake the workers. Throws nothing. */
    void overlooked() {
        mayBeOverlooked = true;
        armWatch();
    }

    /** Puts a task of maintenance into the list of a domain; throws nothing, as {@link #added(Worker)}. */
    void maintain(int domain, Task task) {
        maintenance[domain].add(task);
        try {
            Faults.point();
            if (terminated) {
                failWaiting();
            }
            wakeOneOf(domain);
        } catch (Throwable struck) {
            overlooked();
        }
    }

    /** The maintenance of a domain that waits for its next step. */
    TaskList maintenance(int domain) {
        return maintenance[domain];
    }

    /** Wakes the target, or the worker on the caller's core if it sleeps too and may take the target's tasks. */
    private void wakeTarget(Worker target) {
        int near = setup.scheduling().reach() == Reach.WORKER ? -1 : callerCore.worker();
        boolean woken =
                near >= 0 && near != target.index && workers[near].domain == target.domain && workers[near].wake();
        if (!woken) {
            target.wake();
        }
    }

    /** Called before a worker runs a slice: wakes workers for tasks that wait behind it, or that have been overlooked. */
    void wakeFor(Worker busy) {
        if (mayNeedHelp(busy) && busy.waiting() > 0) {
            wakeHelper(busy);
        }
        wakeOverlooked(busy.shard);
    }

    /**
     * Wakes the workers of a shard that sleep although tasks wait at them: the worker that was woken in their place has found
     * another task to run.
     */
    private void wakeOverlooked(int shard) {
        if (shards[shard].parked() == 0) {
            return;
        }
        for (int i = 0; i < layout.workersInShard(shard); i++) {
            Worker worker = workers[layout.workerInShard(shard, i)];
            if (worker.isParked() && worker.waiting() > 0) {
                worker.wake();
            }
        }
    }

    /** Whether {@link #wakeHelper} could have an effect; cheaper than checking whether the target is running. */
    private boolean mayNeedHelp(Worker target) {
        return layout.domains() > 1 || layout.shardsIn(target.domain) > 1 || shards[target.shard].parked() > 0;
    }

    /** Wakes a sleeping worker that may steal the tasks that wait at the target, which is busy. */
    private void wakeHelper(Worker target) {
        Reach reach = setup.scheduling().reach();
        if (reach == Reach.WORKER || wakeNear(target)) {
            return;
        }
        if (reach == Reach.MACHINE || !isGated()) {
            for (int i = 1; i < layout.domains(); i++) {
                if (wakeOneOf((target.domain + i) % layout.domains())) {
                    return;
                }
            }
        } else if (layout.domains() > 1) {
            if (target.waiting() >= setup.gate().backlogPerWorker()) {
                noteBacklog(target.domain);
            }
            int helper = wakes.helperOf(target.domain);
            if (helper >= 0) {
                wakeOneOf(helper);
            }
        }
    }

    private boolean wakeNear(Worker target) {
        return wakeOneOfShard(target.shard) || (layout.shardsIn(target.domain) > 1 && wakeOneOf(target.domain));
    }

    /** Wakes a sleeping worker of a domain; whether there was one. */
    boolean wakeOneOf(int domain) {
        int shardsThere = layout.shardsIn(domain);
        int start = shardsThere == 1 ? 0 : platform.random(shardsThere);
        for (int i = 0; i < shardsThere; i++) {
            if (wakeOneOfShard(layout.shardIn(domain, (start + i) % shardsThere))) {
                return true;
            }
        }
        return false;
    }

    private boolean wakeOneOfShard(int shard) {
        if (shards[shard].parked() == 0) {
            return false;
        }
        int count = layout.workersInShard(shard);
        int start = platform.random(count);
        for (int i = 0; i < count; i++) {
            if (workers[layout.workerInShard(shard, (start + i) % count)].wake()) {
                return true;
            }
        }
        return false;
    }

    // ---- Backlogs and helpers.

    /** Checks a domain whose workers are all busy for the start of a backlog, which is then watched. */
    private void noteBacklog(int domain) {
        Backlog before = backlogs.get(domain);
        if (!before.exists()) {
            refreshBacklog(domain, before, platform.nanoTime());
            if (backlogs.get(domain).exists()) {
                watch.arm();
            }
        }
    }

    private void refreshBacklog(int domain, Backlog before, long now) {
        Backlog next =
                before.next(setup.gate(), waitingIn(domain), layout.workersIn(domain), domains.idle(domain), now);
        if (!next.equals(before)) {
            // If this fails, another thread has stored an equally recent state.
            backlogs.compareAndSet(domain, before, next);
        }
    }

    private Backlog countTaken(int domain, Backlog before) {
        if (before.outlastsARound()) {
            return before;
        }
        // If this fails, another task was counted at the same time: the round ends one task later.
        backlogs.compareAndSet(domain, before, before.taken());
        return backlogs.get(domain);
    }

    void refreshBacklogs(long now) {
        for (int domain = 0; domain < layout.domains(); domain++) {
            Backlog backlog = backlogs.get(domain);
            if (backlog.exists()) {
                refreshBacklog(domain, backlog, now);
            }
        }
    }

    /** Called after a task was taken from a queue of a worker; throws nothing, since the caller holds the task. */
    void taken(Worker from) {
        if (layout.domains() > 1) {
            try {
                Faults.point();
                Backlog backlog = backlogs.get(from.domain);
                if (backlog.exists()) {
                    backlog = countTaken(from.domain, backlog);
                    // Refresh only an existing backlog: a new one must begin in noteBacklog, which has it watched.
                    if (backlog.exists() && from.waiting() < setup.gate().backlogPerWorker()) {
                        refreshBacklog(from.domain, backlog, platform.nanoTime());
                    }
                }
            } catch (Throwable struck) {
                // The stored backlog is stale until Watch refreshes it at its next look.
                armWatch();
            }
        }
    }

    boolean gateOpens(int thiefDomain, int victimDomain) {
        return !isGated()
                || wakes.sparesTimeFor(thiefDomain, victimDomain)
                || (backlogs.get(victimDomain).exists() && wakes.opens(thiefDomain, victimDomain, platform.nanoTime()));
    }

    boolean isGated() {
        return setup.scheduling().gated();
    }

    /** Called when a worker has taken a task of another domain: wakes the next worker of its domain that may take one. */
    void stole(Worker thief, int victimDomain) {
        if (wakes.afterSteal(thief.domain, victimDomain, platform.nanoTime())) {
            wakeOneOf(thief.domain);
        }
    }

    /** The state of the domains for {@link WakePolicy}. */
    private final class SeenDomains implements WakePolicy.Domains {
        @Override
        public int waiting(int domain) {
            return waitingIn(domain);
        }

        @Override
        public int idle(int domain) {
            int idle = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                idle += shards[layout.shardIn(domain, i)].idle();
            }
            return idle;
        }

        @Override
        public int strays(int domain) {
            int strays = 0;
            for (int i = 0; i < layout.shardsIn(domain); i++) {
                strays += shards[layout.shardIn(domain, i)].strays();
            }
            return strays;
        }

        @Override
        public Backlog backlog(int domain) {
            return backlogs.get(domain);
        }

        @Override
        public CrossingCost crossing(int domain) {
            return crossings.get(domain);
        }
    }

    /** Updates the cost of crossing by a task that has ended. Throws nothing. */
    void measured(Worker worker, int home, long nanos, long bytes) {
        if (bytes == 0 || layout.domains() == 1 || !isGated()) {
            return;
        }
        try {
            boolean strayed = home != worker.domain;
            if (strayed || worker.measuresThis()) {
                CrossingCost before = crossings.get(home);
                CrossingCost after = strayed
                        ? before.strayed(nanos, bytes)
                        : before.atHome(nanos, bytes, CrossingCost.TASKS_PER_MEASURE);
                // If this fails, another thread has stored a similar measurement.
                crossings.compareAndSet(home, before, after);
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            // This measurement is lost.
            return;
        }
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
        int idle = 0;
        for (int i = 0; i < layout.shardsIn(domain); i++) {
            idle += shards[layout.shardIn(domain, i)].idle();
        }
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

    /** Whether any worker runs a slice that may block its thread: see {@link Runner#mayBlock}. */
    boolean mayBlock() {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null && runner.mayBlock()) {
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
                || (!runner.looksAgain() && !worker.parked.isEmpty());
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

    WakePolicy.Domains domains() {
        return domains;
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

    /** Sets the policy by which workers fill their stalls; it takes effect at a worker's next stall. */
    public void stalls(StallPolicy policy) {
        stalls = policy;
    }

    public StallPolicy stalls() {
        return stalls;
    }

    /** Statistics of the stalls of all workers since the policy was set. */
    public StallStats stallStats() {
        StallPolicy policy = stalls;
        List<StallStats> all = new ArrayList<>();
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null) {
                all.add(runner.stalls(policy));
            }
        }
        return StallStats.of(all);
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
            thread.runner().submitted(task);
        }
    }

    /** Called by a worker's thread that is about to block: if tasks wait behind it meanwhile, the worker gets a fresh thread. */
    public void aboutToBlock() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.aboutToBlock();
        }
    }

    /** In a worker's thread, runs waiting interactive tasks. */
    public void yieldToSearches() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.yieldToSearches();
        }
    }

    /** In a worker's thread, runs other tasks until a future is done, or the time is up. */
    public void helpUntilDone(Future<?> future, long untilNanos) {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.helpUntilDone(future, untilNanos);
        }
    }

    /** The result of pinning a worker, or null if its thread has not been pinned yet. */
    public @Nullable PinResult pinOf(int worker) {
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
        return failedWaiting.get();
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

    /** Adds a completion source; each worker opens its own instance at its next look. */
    public synchronized void addSource(CompletionSource.Factory factory) {
        CompletionSource.Factory[] more = Arrays.copyOf(sources, sources.length + 1);
        more[sources.length] = factory;
        sources = more;
        for (Worker worker : workers) {
            worker.wake();
        }
    }

    CompletionSource.Factory[] sources() {
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
    PinResult pin(Worker worker) {
        Core core = layout.coreOf(worker.index);
        try {
            PinResult pin = setup.pinner().apply(core);
            callerCore.pinned(worker.index, pin);
            return pin;
        } catch (Throwable e) {
            LOG.warn("worker {} of cache domain {} is not pinned: its pinner failed", worker.index, worker.domain, e);
            return new PinResult(core.pus(), List.of(), -1, false, "the pinner failed: " + e);
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

    /**
     * Fails a task that the caller owns, counts it out, and hands over the tasks that continue after it. If it cannot be failed
     * because memory is out, it waits in a list of the worker until it can.
     */
    void failOwned(Task task, Worker worker, Throwable cause) {
        if (task.countsAsTask()) {
            failedWaiting.incrementAndGet();
        }
        failBooked(task, worker, cause);
    }

    /** As {@link #failOwned}, if the failure has been counted already. */
    void failBooked(Task task, Worker worker, Throwable cause) {
        try {
            Faults.point();
            task.fail(cause);
        } catch (Throwable again) {
            worker.unanswered.add(task);
            return;
        }
        over(task, worker, worker.resume);
    }

    /** Called when a task has ended: counts it out, and hands over the tasks that continue after it. */
    void over(Task task, Worker worker, Consumer<Task> goesOn) {
        countOut(task.epoch(), worker);
        leave(task.use(), worker.index);
        try {
            Faults.point();
            task.deliver(goesOn);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            task.deliver(worker.resume);
        }
    }

    /** Counts a task out of its epoch; if memory is out and the epoch cannot be retired, {@link Watch} retires it later. */
    private void countOut(Epoch epoch, Worker worker) {
        try {
            epoch.exit(worker.index, 1);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            unretired = epoch;
            armWatch();
        }
    }

    /** Counts a task out as a user of its table; if memory is out and the use cannot be ended, {@link Watch} ends it later. */
    void leave(@Nullable TableUse use, long lane) {
        if (use == null) {
            return;
        }
        try {
            use.exit(lane);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            untold = use;
            armWatch();
        }
    }

    /** Does the work that errors have prevented: retires epochs, ends uses of tables, and wakes workers. */
    void catchUp() {
        Epoch epoch = unretired;
        if (epoch != null) {
            unretired = null;
            epoch.retireAgain();
        }
        TableUse use = untold;
        if (use != null) {
            untold = null;
            use.endIfUnused();
        }
        if (mayBeOverlooked) {
            mayBeOverlooked = false;
            for (int shard = 0; shard < shards.length; shard++) {
                wakeOverlooked(shard);
            }
            for (int domain = 0; domain < maintenance.length; domain++) {
                if (maintenance[domain].size() > 0) {
                    wakeOneOf(domain);
                }
            }
        }
    }

    /** Makes {@link Watch} look; throws nothing. */
    private void armWatch() {
        try {
            watch.arm();
        } catch (Throwable struck) {
            // It is armed nevertheless, and looks when it next wakes up.
            restarts.incrementAndGet();
        }
    }

    /** Fails the tasks that could not be failed before. */
    void answerAgain(Worker worker) {
        for (int left = worker.unanswered.size(); left > 0; left--) {
            Task task = worker.unanswered.poll();
            if (task != null) {
                failBooked(task, worker, new OutOfMemoryError("there was no memory to tell the search of its failure"));
            }
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

    private void failWaiting() {
        Throwable known = failure;
        Throwable cause = known == null ? new OrchestratorClosedException() : known;
        for (Worker worker : workers) {
            worker.failWaiting(cause);
        }
        for (int domain = 0; domain < maintenance.length; domain++) {
            Worker any = workers[layout.workerIn(domain, 0)];
            for (Task task = maintenance[domain].poll(); task != null; task = maintenance[domain].poll()) {
                failOwned(task, any, cause);
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
