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
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one orchestrator: places tasks into rings, wakes whom that concerns, answers what workers need to know
 * of each other. Thread-safe.
 */
public final class WorkerPool {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
    private static final CompletionSource.Factory[] NO_SOURCES = {};
    /** How long termination waits for places to be filled that are reserved: a submitter needs well below a microsecond. */
    private static final long FILLING_NANOS = 100_000_000;

    /** What workers are made of, and are to do. */
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
    /** Maintenance of each domain that waits for its next step. */
    private final TaskList[] maintenance;

    private final AtomicReferenceArray<Backlog> backlogs;
    private final AtomicReferenceArray<CrossingCost> crossings;
    private final WakePolicy.Domains domains = new SeenDomains();
    private final WakePolicy wakes;
    private final Watch watch;
    private final Dispatch dispatch;
    private final LongAdder restarts = new LongAdder();
    private final LongAdder failedWaiting = new LongAdder();
    /** Runners whose worker has another one, until they end. */
    private final Set<Runner> blocked = ConcurrentHashMap.newKeySet();
    /** Grown under the lock of this object. */
    private volatile CompletionSource.Factory[] sources = NO_SOURCES;
    /** Set where an error may have kept a worker from being woken; {@link Watch} sees to that. */
    private volatile boolean mayBeOverlooked;
    /** An epoch that could not be retired for want of memory, with those before it. */
    private volatile @Nullable Epoch unretired;
    /** A table whose last user may have left without being told so, for want of memory. */
    private volatile @Nullable TableUse untold;

    private volatile StallPolicy stalls = StallPolicy.POLLED;
    /** Written once by {@link #terminate}. */
    private volatile boolean terminated;
    /** Written once by {@link #failEverything}: from then on queued tasks fail instead of running. */
    private volatile @Nullable Throwable failure;

    /** @param tickets what the dispatcher draws by */
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

    /** What puts tasks where they belong. */
    public Dispatch dispatch() {
        return dispatch;
    }

    // ---- Putting tasks, and waking who is to run them.

    /** Puts a task into a worker's ring and wakes a worker that should run it; false when the ring is full. */
    boolean offer(int worker, Priority priority, Task task) {
        boolean put = tryPut(worker, priority, task);
        if (put) {
            added(worker);
        }
        return put;
    }

    /** Puts a task into a worker's ring; false when that is full. {@link #added(int)} follows. */
    boolean tryPut(int worker, Priority priority, Task task) {
        Ring ring = workers[worker].ring(priority);
        long place = ring.reserve();
        if (place == Ring.FULL) {
            return false;
        }
        ring.put(place, task);
        return true;
    }

    /** Reserves a place in a worker's ring; its number, or {@link Ring#FULL}. */
    long reserve(int worker, Priority priority) {
        return workers[worker].ring(priority).reserve();
    }

    /** Gives a reserved place back. */
    void release(int worker, Priority priority, long place, Ring.Hole hole) {
        workers[worker].ring(priority).release(place, hole);
    }

    /** Puts a task into a reserved place. {@link #added(int)} follows. */
    void put(int worker, Priority priority, long place, Task task) {
        workers[worker].ring(priority).put(place, task);
    }

    /** Wakes who is to run the tasks that were put into a worker's ring, as {@link #added(Worker)}. */
    void added(int worker) {
        added(workers[worker]);
    }

    /**
     * A task was put where a worker finds it: from then on it is accepted, so nothing is thrown here. For want of memory or
     * stack a worker may not be woken; then {@link Watch} or the next task does.
     */
    void added(Worker target) {
        try {
            Faults.point();
            if (terminated) {
                // Whoever terminated the pool may have given up waiting for this task.
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

    /** An error may have kept a worker from being woken: {@link Watch} sees to it. Throws nothing. */
    void overlooked() {
        mayBeOverlooked = true;
        armWatch();
    }

    /** Puts a task of maintenance where workers of a domain find it; nothing is thrown, as in {@link #added}. */
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

    /** Maintenance that waits for its next step. */
    TaskList maintenance(int domain) {
        return maintenance[domain];
    }

    /** Wakes the target, or the worker of the caller's own core if it sleeps as well and may take the target's tasks. */
    private void wakeTarget(Worker target) {
        int near = setup.scheduling().reach() == Reach.WORKER ? -1 : callerCore.worker();
        boolean woken =
                near >= 0 && near != target.index && workers[near].domain == target.domain && workers[near].wake();
        if (!woken) {
            target.wake();
        }
    }

    /** A worker is about to run a slice: wakes who is to run what waits behind that, or was overlooked. */
    void wakeFor(Worker busy) {
        if (mayNeedHelp(busy) && busy.waiting() > 0) {
            wakeHelper(busy);
        }
        wakeOverlooked(busy.shard);
    }

    /**
     * Wakes workers of a shard that sleep on tasks of their own: one that was woken in their place has found something
     * else to run.
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

    /** Whether {@link #wakeHelper} could do anything; cheaper than the look at what the target runs. */
    private boolean mayNeedHelp(Worker target) {
        return layout.domains() > 1 || layout.shardsIn(target.domain) > 1 || shards[target.shard].parked() > 0;
    }

    /** Wakes a sleeping worker that may steal what the target, which is busy, cannot run at once. */
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

    // ---- Backlogs, and who helps.

    /** A look at a domain whose workers are all busy: a backlog that begins is watched. */
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
            // Who loses has seen the queue as late as who wins.
            backlogs.compareAndSet(domain, before, next);
        }
    }

    private Backlog countTaken(int domain, Backlog before) {
        if (before.outlastsARound()) {
            return before;
        }
        // Who loses has taken one at the same time: the round is over a task later.
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

    /** A task was taken from a ring of this worker; throws nothing, for whoever has taken it holds it. */
    void taken(Worker from) {
        if (layout.domains() > 1) {
            try {
                Faults.point();
                Backlog backlog = backlogs.get(from.domain);
                if (backlog.exists()) {
                    backlog = countTaken(from.domain, backlog);
                    // One that has ended meanwhile begins again where it is watched.
                    if (backlog.exists() && from.waiting() < setup.gate().backlogPerWorker()) {
                        refreshBacklog(from.domain, backlog, platform.nanoTime());
                    }
                }
            } catch (Throwable struck) {
                // The backlog stands for a moment longer than it was; it is refreshed at the next look.
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

    /** A worker has taken a task of another domain: it wakes the next that may. */
    void stole(Worker thief, int victimDomain) {
        if (wakes.afterSteal(thief.domain, victimDomain, platform.nanoTime())) {
            wakeOneOf(thief.domain);
        }
    }

    /** The domains as the policy sees them. */
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

    /** A task that read something has ended: where it ran, it tells what crossing costs. Throws nothing. */
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
                // Who loses against another has measured about the same.
                crossings.compareAndSet(home, before, after);
            }
        } catch (OutOfMemoryError | StackOverflowError struck) {
            // One measurement less.
            return;
        }
    }

    /** Tasks that wait in the rings and lists of a domain. */
    public int waitingIn(int domain) {
        int waiting = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            waiting += workers[layout.workerIn(domain, i)].waiting();
        }
        return waiting;
    }

    /** Workers of a domain that have nothing to run, less the tasks that wait for them; at least 0. */
    public int freeIn(int domain) {
        int idle = 0;
        for (int i = 0; i < layout.shardsIn(domain); i++) {
            idle += shards[layout.shardIn(domain, i)].idle();
        }
        return idle == 0 ? 0 : Math.max(0, idle - waitingIn(domain));
    }

    /** Whether any domain has a worker with nothing to do, and nothing waiting for it. */
    boolean anyFree() {
        return anyFree(0);
    }

    /**
     * Whether workers have nothing to do, and nothing waiting for them, once so many tasks have been placed.
     *
     * @param held tasks that have been made and not placed yet
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

    /** Whether a search runs that has submitted others, for which it may come to wait. */
    boolean mayBlock() {
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null && runner.mayBlock()) {
                return true;
            }
        }
        return false;
    }

    /** Gives a worker a fresh thread in place of one that is blocked; false where too many are. */
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

    /** A runner's thread is about to end. */
    void ended(Runner runner) {
        blocked.remove(runner);
        runner.worker().ended(runner);
    }

    /** Threads that are blocked in what their search waits for, and whose worker has another thread. */
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

    // ---- What is known of workers.

    /** How loaded the workers are, as the dispatcher sees it. */
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
        // Who was woken and has not come so far is counted still.
        if (shards[shard].parked() > 0) {
            for (int i = 0; i < layout.workersInShard(shard); i++) {
                if (workers[layout.workerInShard(shard, i)].isParked()) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Tasks that wait at a worker, and the one it runs. */
    public int load(int worker) {
        return workers[worker].load();
    }

    /** Tasks that wait at a worker. */
    public int waiting(int worker) {
        return workers[worker].waiting();
    }

    /** Searches that wait for bytes, on all workers. */
    int parked() {
        return Arrays.stream(workers).mapToInt(worker -> worker.parked.size()).sum();
    }

    /** Searches that ran in a domain and wait for bytes. */
    public int parkedIn(int domain) {
        int parked = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            parked += workers[layout.workerIn(domain, i)].parked.size();
        }
        return parked;
    }

    /** Maintenance of a domain that waits for its next step. */
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

    /** How workers fill their stalls; they see a new one at their next stall. */
    public void stalls(StallPolicy policy) {
        stalls = policy;
    }

    public StallPolicy stalls() {
        return stalls;
    }

    /** What stalls were since the policy was set. */
    public StallStats stallStats() {
        List<StallStats> all = new ArrayList<>();
        for (Worker worker : workers) {
            Runner runner = worker.runner();
            if (runner != null) {
                all.add(runner.stalls());
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

    /** The index of the worker whose thread is calling, or -1 when it is none of this pool's. */
    public int callingWorker() {
        Runner runner = callingRunner();
        return runner == null ? -1 : runner.worker().index;
    }

    /** Notes that the calling thread has submitted a task; means something only on a worker. */
    public void submitted(Task task) {
        if (Thread.currentThread() instanceof WorkerThread thread
                && thread.runner().worker().isOf(this)) {
            thread.runner().submitted(task);
        }
    }

    /** In a worker's thread, says that it is about to block: should tasks wait behind it meanwhile, it is relieved. */
    public void aboutToBlock() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.aboutToBlock();
        }
    }

    /** In a worker's thread, runs interactive tasks that wait. */
    public void giveWay() {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.giveWay();
        }
    }

    /** In a worker's thread, runs what waits until something is done. */
    public void helpUntilDone(Future<?> future, long untilNanos) {
        Runner runner = callingRunner();
        if (runner != null) {
            runner.helpUntilDone(future, untilNanos);
        }
    }

    /** Where a worker is pinned, or null while its thread has not come so far. */
    public @Nullable PinResult pinOf(int worker) {
        return workers[worker].pin();
    }

    /** Whether a worker runs a task now. */
    public boolean isRunning(int worker) {
        return workers[worker].isRunning();
    }

    /** What a worker has counted since it started. */
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

    /** How many tasks close failed before a worker came to them. */
    public long failedWaitingTasks() {
        return failedWaiting.sum();
    }

    /** How often a worker was struck by an error that was no task's own, and went on. */
    public long restartedWorkers() {
        return restarts.sum();
    }

    static Counter counterOf(Outcome outcome) {
        return switch (outcome) {
            case COMPLETED -> Counter.COMPLETED;
            case FAILED -> Counter.FAILED;
            case CANCELLED -> Counter.CANCELLED;
            case EXPIRED -> Counter.EXPIRED;
        };
    }

    /** Adds a source of completions; each worker opens its own at its next look. */
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

    /** Has a worker's own thread pinned. A fresh thread would fail where this one does, so the worker goes on unpinned. */
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

    /** Told once for each worker; throws nothing. */
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

    /** A worker was struck by an error that was no task's own; throws nothing, for it goes on. */
    void restarted(Worker worker, Throwable unexpected) {
        restarts.increment();
        try {
            LOG.error("worker {} of cache domain {} met an error and goes on", worker.index, worker.domain, unexpected);
            setup.listener().workerRestarted(worker.index);
        } catch (Throwable cannotTell) {
            // There may be no memory for a message: the count above is all that is left of it.
            armWatch();
        }
    }

    // ---- Failing, and the end.

    /**
     * Fails a task that the caller owns, counts it out, and sees to what goes on after it. Where that fails for want of
     * memory the task waits in a list of the worker until it can be told.
     */
    void failOwned(Task task, Worker worker, Throwable cause) {
        if (task.countsAsTask()) {
            failedWaiting.increment();
        }
        failBooked(task, worker, cause);
    }

    /** As {@link #failOwned}, where the failure has been counted. */
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

    /** A task has ended: counts it out, and has those go on that wait for it. */
    void over(Task task, Worker worker, Consumer<Task> goesOn) {
        countOut(task.epoch(), worker);
        leave(task.use(), worker);
        try {
            Faults.point();
            task.deliver(goesOn);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            task.deliver(worker.resume);
        }
    }

    /** Counts a task out of its epoch; where the epoch cannot be retired for want of memory, {@link Watch} does so later. */
    private void countOut(Epoch epoch, Worker worker) {
        try {
            epoch.exit(worker.index, 1);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            unretired = epoch;
            armWatch();
        }
    }

    /** Counts a task out as a user of its table; where that cannot be told to who waits for it, {@link Watch} does so later. */
    private void leave(@Nullable TableUse use, Worker worker) {
        if (use == null) {
            return;
        }
        try {
            use.exit(worker.index);
        } catch (OutOfMemoryError | StackOverflowError struck) {
            untold = use;
            armWatch();
        }
    }

    /** Does what an error has kept from being done: wakes who sleeps on tasks, and retires epochs. */
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

    /** Has {@link Watch} look; throws nothing. */
    private void armWatch() {
        try {
            watch.arm();
        } catch (Throwable struck) {
            // It is armed all the same, and looks with its next wake-up.
            restarts.increment();
        }
    }

    /** Tells tasks of a failure that they could not be told before. */
    void answerAgain(Worker worker) {
        for (int left = worker.unanswered.size(); left > 0; left--) {
            Task task = worker.unanswered.poll();
            if (task != null) {
                failBooked(task, worker, new OutOfMemoryError("there was no memory to tell the search of its failure"));
            }
        }
    }

    /** From now on tasks fail with {@code cause} instead of running; those that run or wait now fail at once. */
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
     * Lets every worker end once it is done with the task it runs; who has failed everything calls this a while after.
     *
     * <p>No task is left behind in a ring: a submitter first reserves a place and in the end looks whether the pool is
     * terminated, this first says so and then looks for reserved places. One sees the other, as with the wake-ups of {@link
     * Worker}; where it is this, it waits until the place is filled.
     *
     * <p>A task that began just as everything was failed may have been overlooked: a worker says what it runs and then looks
     * whether to fail it, without the costly fence between the two. By now what it said has long been visible.
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

    /** Waits for the workers' threads to end; false when some still run after {@code timeout}. */
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
