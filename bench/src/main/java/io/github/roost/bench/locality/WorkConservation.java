package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.policy.CrossDomainGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Questions: do workers stay idle while tasks wait in a queue, and do tasks cross domains although their own domain would run them soon? The domains
 * have several workers each, so that "the domain is idle" and "a worker is idle" differ. Tasks sleep instead of computing, so that the number of
 * real cores is no limit. The baseline of a flood is computed: all free workers busy until the last task.
 */
public final class WorkConservation {
    /**
     * The gate of loads that should stay: an age of four tasks of {@value #STAYING_TASK_MILLIS} ms. Sleeping tasks cannot be as short as the default's age,
     * and the rule has no scale.
     */
    static final CrossDomainGate STAYING = new CrossDomainGate(40_000_000);

    static final int STAYING_TASK_MILLIS = 10;

    /** Long enough for workers that spin to go to sleep. */
    private static final Duration QUIET = Duration.ofMillis(200);
    /** Ends the blocking tasks if a flood is not served, so that it cannot hang the tests. */
    private static final Duration LONGEST_BUSY = Duration.ofMinutes(1);
    /** Max time that workers wait for each other at the latch. */
    private static final Duration LONGEST_MEETING = Duration.ofSeconds(1);
    /** Longer than any load: nothing reports traffic, and homes do not change. */
    private static final Duration WINDOW = Duration.ofHours(1);

    private static final int FEWEST_PLACES = 1_024;

    private final MadeUpMachine machine;

    /** @param machine to run on */
    public WorkConservation(MadeUpMachine machine) {
        this.machine = machine;
    }

    /** The state of the workers when a flood begins. */
    public enum Before {
        /** Every worker has just run a task, and has none now. */
        AWAKE,
        /** All workers sleep. */
        ASLEEP,
        /** One worker per domain runs a task that ends after the flood; the others sleep. */
        ONE_BUSY
    }

    /**
     * The result of many tasks for one mapping id.
     *
     * @param free workers that had nothing else to do
     * @param atOnce max workers that ran a task of the flood at the same time
     * @param tookMillis from the first submission to the last completion
     * @param idealMillis the time that all free workers need together
     * @param crossed tasks that ran in another domain than their home
     */
    public record Flood(
            MadeUpMachine machine,
            Before before,
            int tasks,
            int free,
            int atOnce,
            double tookMillis,
            double idealMillis,
            long crossed) {}

    /**
     * The result of tasks that their home could have run.
     *
     * @param tasks number of tasks
     * @param crossed tasks that ran in another domain than their home
     * @param busy share of the workers' time in which they ran tasks
     */
    public record Staying(MadeUpMachine machine, long tasks, long crossed, double busy) {
        /** Share of the tasks that crossed. */
        public double crossedShare() {
            return (double) crossed / tasks;
        }
    }

    /**
     * Submits tasks to one mapping id, as fast as one thread can.
     *
     * @param tasks how many
     * @param length how long each sleeps
     */
    public Flood flood(Before before, int tasks, Duration length) throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger max = new AtomicInteger();
        Orchestrator orchestrator = orchestrator(tasks, CrossDomainGate.DEFAULT);
        long crossedBefore;
        long took;
        try (orchestrator) {
            try {
                Registration ids = orchestrator.register("flood", machine.domains());
                begin(before, orchestrator, ids, over);
                crossedBefore = crossed(orchestrator);
                List<CompletableFuture<Boolean>> answers = new ArrayList<>();
                long began = System.nanoTime();
                for (int task = 0; task < tasks; task++) {
                    answers.add(orchestrator.submit(
                            (query, context) -> {
                                max.accumulateAndGet(running.incrementAndGet(), Math::max);
                                Thread.sleep(length);
                                running.decrementAndGet();
                                return true;
                            },
                            task,
                            ids.id(0)));
                }
                answers.forEach(CompletableFuture::join);
                took = System.nanoTime() - began;
            } finally {
                over.countDown();
            }
        }
        int free = machine.workers() - (before == Before.ONE_BUSY ? machine.domains() : 0);
        double ideal = length.toNanos() / 1e6 * Math.ceilDiv(tasks, free);
        long crossed = crossed(orchestrator) - crossedBefore;
        return new Flood(machine, before, tasks, free, max.get(), took / 1e6, ideal, crossed);
    }

    private void begin(Before before, Orchestrator orchestrator, Registration ids, CountDownLatch over)
            throws InterruptedException {
        switch (before) {
            case AWAKE -> {
                // The tasks wait for each other, so that each runs on its own worker.
                CountDownLatch all = new CountDownLatch(machine.workers());
                List<CompletableFuture<Boolean>> started = new ArrayList<>();
                for (int i = 0; i < machine.workers(); i++) {
                    started.add(orchestrator.submit(
                            (query, context) -> {
                                all.countDown();
                                return all.await(LONGEST_MEETING.toNanos(), TimeUnit.NANOSECONDS);
                            },
                            i,
                            ids.id(i % machine.domains())));
                }
                started.forEach(CompletableFuture::join);
            }
            case ASLEEP -> quiet();
            case ONE_BUSY -> {
                CountDownLatch started = new CountDownLatch(machine.domains());
                for (int domain = 0; domain < machine.domains(); domain++) {
                    var _ = orchestrator.submit(
                            (query, context) -> {
                                started.countDown();
                                return over.await(LONGEST_BUSY.toNanos(), TimeUnit.NANOSECONDS);
                            },
                            domain,
                            ids.id(domain));
                }
                started.await();
                quiet();
            }
        }
    }

    /**
     * Submits bursts to one domain after the other, each when the previous one is done; all other domains are idle then.
     *
     * @param bursts how many
     * @param perWorker tasks per burst and worker of the domain
     * @param length how long each task sleeps
     */
    public Staying bursts(int bursts, int perWorker, Duration length) throws InterruptedException {
        LongAdder busyNanos = new LongAdder();
        int size = perWorker * machine.workersPerDomain();
        Orchestrator orchestrator = orchestrator(size, STAYING);
        long took;
        try (orchestrator) {
            Registration ids = orchestrator.register("bursts", machine.domains());
            quiet();
            long began = System.nanoTime();
            for (int burst = 0; burst < bursts; burst++) {
                List<CompletableFuture<Boolean>> answers = new ArrayList<>();
                for (int task = 0; task < size; task++) {
                    answers.add(orchestrator.submit(
                            (nanos, context) -> sleep(nanos, busyNanos),
                            length.toNanos(),
                            ids.id(burst % machine.domains())));
                }
                answers.forEach(CompletableFuture::join);
            }
            took = System.nanoTime() - began;
        }
        return staying((long) bursts * size, orchestrator, busyNanos, took);
    }

    /**
     * Submits tasks as a Poisson process to random domains; they sleep for exponentially distributed times.
     *
     * @param load share of the workers' time that the tasks need, below 1
     * @param mean time that a task sleeps
     * @param tasks how many
     * @param seed of all random numbers
     */
    public Staying balanced(double load, Duration mean, int tasks, long seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        double nanosBetween = mean.toNanos() / (load * machine.workers());
        LongAdder busyNanos = new LongAdder();
        Orchestrator orchestrator = orchestrator(tasks, STAYING);
        long took;
        try (orchestrator) {
            Registration ids = orchestrator.register("balanced", machine.domains());
            quiet();
            Queue<CompletableFuture<Boolean>> answers = new ConcurrentLinkedQueue<>();
            long began = System.nanoTime();
            double due = began;
            for (int task = 0; task < tasks; task++) {
                due += nanosBetween * exponential(random);
                for (double left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                    LockSupport.parkNanos((long) left);
                }
                answers.add(orchestrator.submit(
                        (nanos, context) -> sleep(nanos, busyNanos),
                        (long) (mean.toNanos() * exponential(random)),
                        ids.id(random.nextInt(machine.domains()))));
            }
            took = System.nanoTime() - began;
            answers.forEach(CompletableFuture::join);
        }
        return staying(tasks, orchestrator, busyNanos, took);
    }

    /** An orchestrator with its defaults, except that the ring of one worker has room for all tasks. */
    private Orchestrator orchestrator(int tasks, CrossDomainGate gate) {
        return machine.orchestrator()
                .crossDomainGate(gate)
                .ringCapacity(Math.max(FEWEST_PLACES, tasks))
                .windows(WINDOW, WINDOW)
                .build();
    }

    private static void quiet() throws InterruptedException {
        Thread.sleep(QUIET);
    }

    private static boolean sleep(long nanos, LongAdder busyNanos) throws InterruptedException {
        long began = System.nanoTime();
        Thread.sleep(Duration.ofNanos(nanos));
        busyNanos.add(System.nanoTime() - began);
        return true;
    }

    private static double exponential(SplittableRandom random) {
        return -Math.log(1 - random.nextDouble());
    }

    private Staying staying(long tasks, Orchestrator closed, LongAdder busyNanos, long took) {
        return new Staying(machine, tasks, crossed(closed), busyNanos.sum() / ((double) took * machine.workers()));
    }

    /** The orchestrator must be closed, because counters of running tasks lag behind. */
    private static long crossed(Orchestrator closed) {
        return closed.stats(0).tasks().crossSteals();
    }
}
