package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.SearchFunction;
import io.github.roost.core.dispatch.Crossings;
import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.placement.Epoch;
import io.github.roost.core.placement.Epochs;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Request.Kind;
import io.github.roost.core.task.Task;
import io.github.roost.topology.Pinner;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * The worker pool of {@code core} in lockstep: of its workers' threads one runs at a time, when a test says so, until it is
 * in the midst of its next task or asleep; the thread that watches is not started. In the package of the pool, whose parts
 * are not for others.
 */
@NullMarked
public final class SteppedPool implements AutoCloseable {
    /** Answer of {@link #step} where the worker sleeps. */
    public static final int SLEEPS = -1;

    private static final int LONGEST_SECONDS = 60;
    private static final int RING = 1 << 12;

    private final WorkerPool pool;
    private final Epoch epoch;
    private final LongSupplier clock;
    private final SplittableRandom random;
    private final IntConsumer woken;
    private final Semaphore test = new Semaphore(0);
    private final Semaphore[] turns;
    /** What each worker has come to; handed over with the turn. */
    private final int[] reached;
    /** The domain that each worker's task was taken from, or its own; handed over with the turn. */
    private final int[] homes;

    private long roundRobin;
    private boolean started;
    private volatile boolean ends;

    /**
     * Workers that all sleep.
     *
     * @param clock what ages are measured by
     * @param random what the dispatcher, thieves and who wakes draw from, all of one sequence
     * @param woken told each worker that is woken; it goes on at its next {@link #step}
     */
    public SteppedPool(
            WorkerLayout layout,
            SchedulingPolicy scheduling,
            CrossDomainGate gate,
            Mapping mapping,
            LongSupplier clock,
            SplittableRandom random,
            IntConsumer woken) {
        this.clock = clock;
        this.random = random;
        this.woken = woken;
        this.epoch = new Epochs(mapping, layout.workers()).current();
        this.turns = new Semaphore[layout.workers()];
        Arrays.setAll(turns, worker -> new Semaphore(0));
        this.reached = new int[layout.workers()];
        this.homes = new int[layout.workers()];
        TrafficMonitor monitor = new TrafficMonitor(layout.domains(), layout.workers());
        monitor.ensureCapacity(mapping.slots());
        this.pool = new WorkerPool(
                new WorkerPool.Setup(
                        layout,
                        scheduling,
                        core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine"),
                        () -> -1,
                        gate,
                        IdleStrategy.spinThenPark(0),
                        RING,
                        .02,
                        monitor,
                        id -> true,
                        new Crossed(layout)),
                Dispatcher.of(scheduling, layout),
                () -> scheduling.usesHomes() ? random.nextLong() : roundRobin++,
                new Stepped());
        for (int worker = 0; worker < layout.workers(); worker++) {
            pool.worker(worker).start();
            awaitTurn(worker);
        }
        started = true;
    }

    /** Submits a task as an orchestrator does. */
    public void submit(int slot, int task) {
        epoch.enter(0, 1);
        SearchFunction<Integer, Integer> waits = (number, context) -> {
            pause(context.worker(), number);
            return number;
        };
        Request<Integer, Integer> request = new Request<>(
                Kind.ONE_SLICE, waits, task, slot, epoch, Priority.INTERACTIVE, Task.NOT_TIMED, Task.NO_DEADLINE);
        if (!pool.dispatch().offer(pool.dispatch().worker(slot, epoch.mapping()), request)) {
            throw new IllegalStateException("a queue of " + RING + " tasks is full");
        }
    }

    /** The domain that the task which a worker runs was taken from. */
    public int homeOf(int worker) {
        return homes[worker];
    }

    /** The task that a worker runs has taken so long and read so much. */
    public void measured(int worker, long nanos, long bytes) {
        int home = homes[worker];
        Worker takenFrom =
                home == pool.domainOf(worker) ? null : pool.worker(pool.layout().workerIn(home, 0));
        pool.help().measured(pool.worker(worker), takenFrom, nanos, bytes);
    }

    /** Has a worker end its task, or wake up; the number of the task that it runs then, or {@link #SLEEPS}. */
    public int step(int worker) {
        homes[worker] = pool.domainOf(worker);
        turns[worker].release();
        return awaitTurn(worker);
    }

    /** Does what the thread that watches does; nanoseconds to the next time, {@link Long#MAX_VALUE} for never. */
    public long watch() {
        return pool.watch().watchOnce();
    }

    /** Whether the thread that watches is to. */
    public boolean watches() {
        return pool.watch().isArmed();
    }

    /** Whether a thief may take from a domain now. */
    public boolean gateOpens(int thiefDomain, int victimDomain) {
        return pool.help().gateOpens(thiefDomain, victimDomain);
    }

    /** What the pool's policy knows of the domains. */
    public Crossings.Domains domains() {
        return pool.help().domains();
    }

    /** Tasks that wait at a worker, and the one it runs. */
    public int load(int worker) {
        return pool.load(worker);
    }

    /** Tasks that were taken from another domain. */
    public long crossSteals() {
        long sum = 0;
        for (int worker = 0; worker < turns.length; worker++) {
            sum += pool.countsOf(worker).get(WorkerCounters.Counter.CROSS_STEALS);
        }
        return sum;
    }

    private int awaitTurn(int worker) {
        try {
            if (!test.tryAcquire(LONGEST_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("worker " + worker + " neither runs a task nor sleeps");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
        return reached[worker];
    }

    /** In a worker's thread: gives the turn back until the next {@link #step}. */
    private void pause(int worker, int at) {
        reached[worker] = at;
        test.release();
        if (!ends) {
            turns[worker].acquireUninterruptibly();
        }
    }

    @Override
    public void close() {
        ends = true;
        pool.terminate();
        for (Semaphore turn : turns) {
            turn.release(RING);
        }
        if (!pool.join(Duration.ofSeconds(LONGEST_SECONDS))) {
            throw new IllegalStateException("workers have not ended");
        }
    }

    private final class Stepped implements Platform {
        @Override
        public long nanoTime() {
            return clock.getAsLong();
        }

        @Override
        public int random(int bound) {
            return started ? random.nextInt(bound) : 0;
        }

        @Override
        public void park(Worker worker) {
            pause(worker.index, SLEEPS);
        }

        @Override
        public void parkNanos(Worker worker, long nanos) {
            throw new UnsupportedOperationException("no task here has a deadline, got " + nanos + " ns");
        }

        @Override
        public void deliver(Runnable answer) {
            answer.run();
        }

        @Override
        public void unpark(Worker worker, @Nullable Thread thread) {
            if (!ends) {
                woken.accept(worker.index);
            }
        }
    }

    private final class Crossed implements PoolListener {
        private final WorkerLayout layout;

        Crossed(WorkerLayout layout) {
            this.layout = layout;
        }

        @Override
        public void crossSteal(int thief, int victim, int slot) {
            homes[thief] = layout.domainOf(victim);
        }

        @Override
        public void ran(int slot, int worker, long nanos) {}

        @Override
        public void broke(Throwable error) {
            throw new IllegalStateException(error);
        }
    }
}
