package io.github.roost.core.pool;

import io.github.roost.core.dispatch.CrossDomainGate;
import io.github.roost.core.dispatch.IdleStrategy;
import io.github.roost.core.dispatch.Scheduling;
import io.github.roost.core.dispatch.StealOrder;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.pool.Task.Outcome;
import io.github.roost.core.pool.WorkerCounters.Counter;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Priority;
import io.github.roost.topology.Core;
import io.github.roost.topology.PinResult;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one orchestrator: places tasks into rings, wakes whom that concerns, answers what workers need to know
 * of each other. Thread-safe.
 */
public final class WorkerPool {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
    /** The shortest time to the next look across domains; a shorter sleep costs more than it saves. */
    private static final long SHORTEST_CROSS_LOOK_NANOS = 20_000;
    /** How long termination waits for places to be filled that are reserved: a submitter needs well below a microsecond. */
    private static final long FILLING_NANOS = 100_000_000;

    private final WorkerLayout layout;
    private final Scheduling scheduling;
    private final Function<Core, PinResult> pinner;
    private final CallerCore callerCore;
    private final CrossDomainGate gate;
    private final IdleStrategy idleStrategy;
    private final int ringCapacity;
    private final TrafficMonitor monitor;
    private final PoolListener listener;
    private final Worker[] workers;
    private final DomainState[] domains;
    private final LongAdder replaced = new LongAdder();
    private final LongAdder failedWaiting = new LongAdder();
    /** Written once by {@link #terminate}. */
    private volatile boolean terminated;
    /** Written once by {@link #failEverything}: from then on queued tasks fail instead of running. */
    private volatile @Nullable Throwable failure;

    public WorkerPool(
            WorkerLayout layout,
            Scheduling scheduling,
            Function<Core, PinResult> pinner,
            IntSupplier callerCpu,
            CrossDomainGate gate,
            IdleStrategy idleStrategy,
            int ringCapacity,
            TrafficMonitor monitor,
            PoolListener listener) {
        this.layout = layout;
        this.pinner = pinner;
        this.callerCore = new CallerCore(callerCpu, layout.cpus());
        this.gate = gate;
        this.idleStrategy = idleStrategy;
        this.ringCapacity = ringCapacity;
        this.monitor = monitor;
        this.listener = listener;
        this.scheduling = scheduling;
        this.domains = new DomainState[layout.domains()];
        for (int domain = 0; domain < domains.length; domain++) {
            domains[domain] = new DomainState();
        }
        this.workers = new Worker[layout.workers()];
        for (int worker = 0; worker < workers.length; worker++) {
            int domain = layout.domainOf(worker);
            workers[worker] = new Worker(
                    worker, domain, this, domains[domain], stealOrder(scheduling, layout, worker), ringCapacity);
        }
    }

    private static StealOrder stealOrder(Scheduling scheduling, WorkerLayout layout, int worker) {
        return switch (scheduling) {
            case V0 -> StealOrder.none();
            case V1 -> StealOrder.anywhere(layout, worker);
            case V2 -> StealOrder.nearestFirst(layout, worker);
        };
    }

    /** Starts every worker's thread. */
    public void start() {
        for (Worker worker : workers) {
            worker.start();
        }
    }

    /** Puts a task into a worker's ring and wakes a worker that should run it; false when the ring is full. */
    public boolean offer(int worker, Priority priority, Task task) {
        long place = reserve(worker, priority);
        if (place == Ring.FULL) {
            return false;
        }
        put(worker, priority, place, task);
        return true;
    }

    /** Reserves a place in a worker's ring; its number, or {@link Ring#FULL}. */
    long reserve(int worker, Priority priority) {
        return workers[worker].ring(priority).reserve();
    }

    /** Gives a reserved place back. */
    void release(int worker, Priority priority, long place) {
        workers[worker].ring(priority).release(place);
    }

    /** Puts a task into a reserved place and wakes a worker that should run it. */
    void put(int worker, Priority priority, long place, Task task) {
        Worker target = workers[worker];
        target.ring(priority).put(place, task);
        if (terminated) {
            // Whoever terminated the pool may have given up waiting for this task.
            failWaiting();
        }
        if (target.isParked()) {
            wakeFor(target);
        } else if (mayNeedHelp(target) && target.isRunning()) {
            wakeHelper(target);
        }
    }

    /** Wakes the target, or the worker of the caller's own core if it sleeps as well and may take the target's tasks. */
    private void wakeFor(Worker target) {
        int near = scheduling == Scheduling.V0 ? -1 : callerCore.worker();
        boolean woken =
                near >= 0 && near != target.index && workers[near].domain == target.domain && workers[near].wake();
        if (!woken) {
            target.wake();
        }
    }

    /**
     * Wakes workers of a domain that sleep on tasks of their own: one that was woken in their place has found something
     * else to run.
     */
    void wakeOverlooked(int domain) {
        if (domains[domain].parked() == 0) {
            return;
        }
        for (int i = 0; i < layout.workersIn(domain); i++) {
            Worker worker = workers[layout.workerIn(domain, i)];
            if (worker.isParked() && worker.waiting() > 0) {
                worker.wake();
            }
        }
    }

    /** Whether {@link #wakeHelper} could do anything; cheaper than the look at what the target runs. */
    private boolean mayNeedHelp(Worker target) {
        return domains.length > 1 || domains[target.domain].parked() > 0;
    }

    /** Wakes a sleeping worker that may steal what the target, which is busy, cannot run at once. */
    void wakeHelper(Worker target) {
        switch (scheduling) {
            case V0 -> {}
            case V1 -> {
                for (int i = 0; i < domains.length; i++) {
                    if (wakeOneOf((target.domain + i) % domains.length)) {
                        return;
                    }
                }
            }
            case V2 -> {
                if (!wakeOneOf(target.domain) && domains.length > 1 && backlogBegins(target.domain)) {
                    wakeIdleDomain(target.domain);
                }
            }
        }
    }

    private boolean backlogBegins(int domain) {
        return !domains[domain].hasBacklog() && isBacklogged(domain) && domains[domain].beginBacklog(System.nanoTime());
    }

    private boolean wakeOneOf(int domain) {
        if (domains[domain].parked() == 0) {
            return false;
        }
        int count = layout.workersIn(domain);
        int start = ThreadLocalRandom.current().nextInt(count);
        for (int i = 0; i < count; i++) {
            if (workers[layout.workerIn(domain, (start + i) % count)].wake()) {
                return true;
            }
        }
        return false;
    }

    /** A backlog has begun: lets one worker of an idle domain watch it, which cannot know of it otherwise. */
    private void wakeIdleDomain(int backlogged) {
        for (int i = 1; i < domains.length; i++) {
            int domain = (backlogged + i) % domains.length;
            if (domains[domain].idle() >= layout.workersIn(domain) && wakeOneOf(domain)) {
                return;
            }
        }
    }

    /** A task was taken from a ring of this domain. */
    void taken(int domain) {
        if (domains.length > 1 && domains[domain].hasBacklog() && !isBacklogged(domain)) {
            domains[domain].endBacklog();
        }
    }

    private boolean isBacklogged(int domain) {
        return gate.backlogged(waitingIn(domain), layout.workersIn(domain));
    }

    /** Tasks that wait in the rings of a domain. */
    public int waitingIn(int domain) {
        int waiting = 0;
        for (int i = 0; i < layout.workersIn(domain); i++) {
            waiting += workers[layout.workerIn(domain, i)].waiting();
        }
        return waiting;
    }

    /** Workers of a domain that have nothing to run, less the tasks that wait for them; at least 0. */
    public int freeIn(int domain) {
        int idle = domains[domain].idle();
        return idle == 0 ? 0 : Math.max(0, idle - waitingIn(domain));
    }

    boolean gateOpens(int thiefDomain, int victim) {
        int victimDomain = layout.domainOf(victim);
        if (!isBacklogged(victimDomain)) {
            domains[victimDomain].endBacklog();
            return false;
        }
        long now = System.nanoTime();
        domains[victimDomain].beginBacklog(now);
        return gate.opens(
                domains[thiefDomain].idle(), layout.workersIn(thiefDomain), domains[victimDomain].backlogNanos(now));
    }

    /** How long an idle worker may sleep before another domain's backlog is old enough to steal from. */
    long nanosToNextCrossLook(int domain, StealOrder stealOrder) {
        if (domains[domain].idle() < layout.workersIn(domain)) {
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        long oldest = -1;
        for (int level = 0; level < stealOrder.gatedLevels(); level++) {
            for (int i = 0; i < stealOrder.gated(level); i++) {
                int victimDomain = layout.domainOf(stealOrder.gated(level, i));
                oldest = Math.max(oldest, domains[victimDomain].backlogNanos(now));
            }
        }
        return oldest < 0 ? Long.MAX_VALUE : Math.max(SHORTEST_CROSS_LOOK_NANOS, gate.sustainedNanos() - oldest);
    }

    /** Tasks in a worker's rings, and the one it runs. */
    public int load(int worker) {
        return workers[worker].load();
    }

    /** Tasks in a worker's rings. */
    public int waiting(int worker) {
        return workers[worker].waiting();
    }

    /** Number of workers. */
    public int workers() {
        return workers.length;
    }

    Worker worker(int worker) {
        return workers[worker];
    }

    /** The index of the worker whose thread is calling, or -1 when it is none of this pool's. */
    public int callingWorker() {
        return Thread.currentThread() instanceof WorkerThread thread
                        && thread.worker().isOf(this)
                ? thread.worker().index
                : -1;
    }

    /** In a worker's thread, runs interactive tasks that wait. */
    public void giveWay() {
        if (Thread.currentThread() instanceof WorkerThread thread
                && thread.worker().isOf(this)) {
            thread.worker().giveWay();
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
        WorkerCounters counters = workers[worker].counters;
        return new WorkerTotals(
                counters.get(Counter.COMPLETED),
                counters.get(Counter.FAILED),
                counters.get(Counter.CANCELLED),
                counters.get(Counter.EXPIRED),
                counters.get(Counter.INTRA_STEALS),
                counters.get(Counter.CROSS_STEALS),
                counters.get(Counter.WAITS_TIMED),
                counters.get(Counter.WAIT_NANOS),
                counters.get(Counter.RUNS_TIMED),
                counters.get(Counter.RUN_NANOS),
                counters.get(Counter.PARKS));
    }

    /** How many tasks close failed before a worker came to them. */
    public long failedWaitingTasks() {
        return failedWaiting.sum();
    }

    void failedWaiting() {
        failedWaiting.increment();
    }

    /** How many worker threads died and were replaced. */
    public long replacedWorkers() {
        return replaced.sum();
    }

    static Counter counterOf(Outcome outcome) {
        return switch (outcome) {
            case COMPLETED -> Counter.COMPLETED;
            case FAILED -> Counter.FAILED;
            case CANCELLED -> Counter.CANCELLED;
            case EXPIRED -> Counter.EXPIRED;
        };
    }

    IdleStrategy idleStrategy() {
        return idleStrategy;
    }

    TrafficMonitor monitor() {
        return monitor;
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
            PinResult pin = pinner.apply(core);
            callerCore.pinned(worker.index, pin);
            return pin;
        } catch (Throwable e) {
            LOG.warn("worker {} of cache domain {} is not pinned: its pinner failed", worker.index, worker.domain, e);
            return new PinResult(core.pus(), List.of(), -1, false, "the pinner failed: " + e);
        }
    }

    void idleStrategyFailed(Worker worker, Throwable failure) {
        LOG.warn(
                "worker {} of cache domain {} sleeps from now on whenever it finds nothing: its idle strategy failed",
                worker.index,
                worker.domain,
                failure);
    }

    void crossSteal(int thief, int victim, Task task) {
        listener.crossSteal(thief, victim, task.slot());
    }

    void ran(Task task, int worker, long nanos) {
        listener.ran(task.slot(), worker, nanos);
    }

    void replace(Worker worker) {
        if (!terminated) {
            replaced.increment();
            LOG.error("worker {} of cache domain {} died and is replaced", worker.index, worker.domain);
            listener.workerReplaced(worker.index);
            worker.start();
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
            worker.failRunning(cause);
        }
    }

    private void failWaiting() {
        Throwable cause = failure == null ? new OrchestratorClosedException() : failure;
        for (Worker worker : workers) {
            worker.failWaiting(cause);
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
    }

    private boolean anythingWaits() {
        return Arrays.stream(workers).anyMatch(worker -> worker.waiting() > 0);
    }

    /** Waits for the workers' threads to end; false when some still run after {@code timeout}. */
    public boolean join(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        boolean ended = true;
        for (Worker worker : workers) {
            WorkerThread thread = worker.thread();
            while (thread != null && thread != Thread.currentThread() && thread.isAlive()) {
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
