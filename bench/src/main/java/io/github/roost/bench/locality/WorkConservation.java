package io.github.roost.bench.locality;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.task.Registration;
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
 * Question: do workers stand idle beside a queue, and does work that its own domain would do in a moment cross all the same? The
 * domains have several workers each, so that "the domain is idle" and "a worker is idle" differ. Tasks sleep instead of computing:
 * the cores that there are set no limit, and the baseline of a flood is arithmetic, namely all free workers at once until
 * the last task.
 */
public final class WorkConservation {
    /** For the first quiet moment of threads that look for work before they sleep. */
    private static final Duration QUIET = Duration.ofMillis(200);
    /** A flood that is not served must not be waited for through all tests. */
    private static final Duration LONGEST_BUSY = Duration.ofMinutes(1);
    /** Workers that meet wait for each other no longer. */
    private static final Duration LONGEST_MEETING = Duration.ofSeconds(1);
    /** Longer than any load: nothing reports traffic, and homes stay where they are. */
    private static final Duration WINDOW = Duration.ofHours(1);

    private static final int FEWEST_PLACES = 1_024;

    private final MadeUpMachine machine;

    /** @param machine to run on */
    public WorkConservation(MadeUpMachine machine) {
        this.machine = machine;
    }

    /** What the workers do when a flood begins. */
    public enum Before {
        /** Every worker has just run something, and none has anything to do. */
        AWAKE,
        /** All sleep. */
        ASLEEP,
        /** One worker in each domain runs something that ends after the flood; the others sleep. */
        ONE_BUSY
    }

    /**
     * What became of many tasks for one mapping id.
     *
     * @param free workers that had nothing else to do
     * @param atOnce most workers that ran a task of the flood at the same time
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
     * What became of tasks that their home could have done.
     *
     * @param crossed tasks that ran in another domain than their home
     * @param busy share of the workers' time that they ran tasks
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
        AtomicInteger most = new AtomicInteger();
        Orchestrator orchestrator = orchestrator(tasks);
        long took;
        try (orchestrator) {
            try {
                Registration ids = orchestrator.register("flood", machine.domains());
                begin(before, orchestrator, ids, over);
                List<CompletableFuture<Boolean>> answers = new ArrayList<>();
                long began = System.nanoTime();
                for (int task = 0; task < tasks; task++) {
                    answers.add(orchestrator.submit(
                            (query, context) -> {
                                most.accumulateAndGet(running.incrementAndGet(), Math::max);
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
        return new Flood(machine, before, tasks, free, most.get(), took / 1e6, ideal, crossed(orchestrator));
    }

    private void begin(Before before, Orchestrator orchestrator, Registration ids, CountDownLatch over)
            throws InterruptedException {
        switch (before) {
            case AWAKE -> {
                // They meet, so that no worker does the work of another.
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
     * Submits bursts to one domain after the other, each when the one before is done: all other domains are idle meanwhile.
     *
     * @param bursts how many
     * @param perWorker tasks of a burst for each worker of the domain
     * @param length how long each task sleeps
     */
    public Staying bursts(int bursts, int perWorker, Duration length) throws InterruptedException {
        LongAdder busyNanos = new LongAdder();
        int size = perWorker * machine.workersPerDomain();
        Orchestrator orchestrator = orchestrator(size);
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
     * Submits tasks that arrive at random (a Poisson process) at domains at random and sleep for a random time (exponential).
     *
     * @param load share of the workers' time that the tasks need, below 1
     * @param mean time that a task sleeps
     * @param tasks how many
     * @param seed of all that is random
     */
    public Staying balanced(double load, Duration mean, int tasks, long seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        double nanosBetween = mean.toNanos() / (load * machine.workers());
        LongAdder busyNanos = new LongAdder();
        Orchestrator orchestrator = orchestrator(tasks);
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

    /** On an orchestrator with its defaults, but for room for all tasks at one worker. */
    private Orchestrator orchestrator(int tasks) {
        return machine.orchestrator()
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

    /** Of an orchestrator that is closed, since counts of running tasks come a moment late. */
    private static long crossed(Orchestrator closed) {
        return closed.stats(0).tasks().crossSteals();
    }
}
