package io.github.roost.core;

import io.github.roost.core.OrchestratorStats.TaskCounts;
import io.github.roost.core.SoakClient.Target;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A randomized soak test of the orchestrator: submits, fan-outs, nested submits, cancellations, deadlines, failures of
 * every kind, remaps, registrations and closes. It checks that every future completes exactly once, that the counters
 * add up, and that nothing is left in the rings or on the heap. Runs in cycles, each with two orchestrators of its own,
 * whose searches wait for each other's, beside a thread that computes without end. Some dependents of futures block. The
 * overload policies take turns. Rings of one task, which soon refuse one, take turns with larger rings; orchestrators
 * with the larger rings are closed under full load with almost no time to drain.
 */
final class Soak {
    private static final int SUBMITTERS = 4;
    private static final long CYCLE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final Duration LONGEST_DRAIN = Duration.ofSeconds(60);
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);
    /**
     * Max growth of the heap from the end of the first cycle to the end of the last; loading and compiling code causes
     * some.
     */
    private static final long MAX_GROWTH_BYTES = 64L << 20;

    private final Topology topology;
    private final long seed;
    private final List<String> violations = new ArrayList<>();
    private long futures;
    private long accepted;
    private long refused;
    private long remaps;
    private int cycles;

    /**
     * @param topology the machine; workers are unpinned if it is not this machine
     * @param seed of all random choices; the interleaving of threads still varies
     */
    public Soak(Topology topology, long seed) {
        this.topology = topology;
        this.seed = seed;
    }

    /**
     * The result of a soak.
     *
     * @param workers number of workers
     * @param cycles orchestrators opened and closed
     * @param futures futures returned, all of which must complete
     * @param tasks tasks behind them, counting each part of a fan-out
     * @param refused submissions refused because rings were full or the orchestrator was closed
     * @param remaps mappings published at the end of windows
     * @param violations descriptions of failed checks, empty if there were none
     */
    public record Report(
            int workers, int cycles, long futures, long tasks, long refused, long remaps, List<String> violations) {}

    /** Runs for at least {@code duration}, to the end of the current cycle. */
    public Report run(Duration duration) {
        AtomicBoolean stop = new AtomicBoolean();
        Thread neighbor = Thread.ofPlatform().daemon().name("neighbor").start(() -> {
            while (!stop.get()) {
                Thread.onSpinWait();
            }
        });
        try {
            return runBesideANeighbor(duration);
        } finally {
            stop.set(true);
            join(neighbor);
        }
    }

    private Report runBesideANeighbor(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        long heapAfterFirst = 0;
        do {
            runCycle(new Random(seed * 1_000_003 + cycles));
            cycles++;
            if (cycles == 1) {
                heapAfterFirst = usedHeap();
            }
        } while (System.nanoTime() < end);
        long growth = usedHeap() - heapAfterFirst;
        if (growth > MAX_GROWTH_BYTES) {
            violations.add("the heap grew by " + growth + " bytes from the first cycle to the last");
        }
        int workers = topology.domains().stream()
                .mapToInt(domain -> domain.cores().size())
                .sum();
        return new Report(workers, cycles, futures, accepted, refused, remaps, List.copyOf(violations));
    }

    private void runCycle(Random random) {
        SchedulingPolicy scheduling = random.nextInt(3) == 0
                ? SchedulingPolicy.values()[random.nextInt(SchedulingPolicy.values().length)]
                : SchedulingPolicy.HOME_DOMAIN;
        OverloadPolicy policy = switch (cycles % 3) {
            case 0 -> OverloadPolicy.reject();
            case 1 -> OverloadPolicy.callerRuns();
            default -> OverloadPolicy.block(Duration.ofMillis(5));
        };
        int ringCapacity = cycles % 2 == 0 ? 1 : 1 + random.nextInt(64);
        boolean abrupt = cycles % 2 == 1;
        String where = "cycle " + cycles + " of seed " + seed + " (" + scheduling + ", " + policy + ")";
        List<Target> targets = new ArrayList<>();
        for (Topology machine : List.of(topology, Machines.of(1, 2))) {
            targets.add(Target.of(Orchestrator.builder()
                    .topology(machine)
                    .scheduling(scheduling)
                    .overloadPolicy(policy)
                    .ringCapacity(ringCapacity)
                    .windows(Duration.ofMillis(5), Duration.ofMillis(20))
                    .build()));
        }
        List<SoakClient> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + CYCLE_NANOS;
        for (int submitter = 0; submitter < SUBMITTERS; submitter++) {
            // One platform and one virtual thread submit to each.
            int to = submitter / 2 % 2;
            SoakClient client = new SoakClient(targets.get(to), targets.get(1 - to), random.nextLong(), end);
            clients.add(client);
            threads.add(
                    submitter % 2 == 0
                            ? Thread.ofPlatform().start(client)
                            : Thread.ofVirtual().start(client));
        }
        if (abrupt) {
            sleepUntil(end - CYCLE_NANOS / 2);
            for (Target target : targets) {
                target.orchestrator().close(Duration.ofMillis(random.nextInt(3)));
            }
        }
        threads.forEach(Soak::join);
        for (Target target : targets) {
            boolean drained = target.orchestrator().close(LONGEST_DRAIN);
            if (!abrupt && !drained) {
                violations.add(where + " was not drained in " + LONGEST_DRAIN);
            }
        }
        examine(where, clients);
        targets.forEach(target -> examine(where, abrupt, target));
    }

    private void examine(String where, List<SoakClient> clients) {
        for (SoakClient client : clients) {
            long end = System.nanoTime() + LONGEST_WAIT_NANOS;
            while (client.unfinished() > 0 && System.nanoTime() < end) {
                LockSupport.parkNanos(1_000_000);
            }
            if (client.unfinished() != 0) {
                violations.add(where + ": " + client.unfinished() + " futures never completed");
            }
            client.failures().forEach(failure -> violations.add(where + ": " + failure));
            futures += client.futures();
            refused += client.refused();
        }
    }

    private void examine(String where, boolean abrupt, Target target) {
        OrchestratorStats stats = target.orchestrator().stats();
        long tasksOfCycle = target.tasks().get();
        long groupsOfCycle = target.groups().get();
        accepted += tasksOfCycle;
        remaps += stats.remaps();
        TaskCounts counts = stats.tasks();
        long outcomes = counts.completed() + counts.failed() + counts.cancelled() + counts.expired();
        if (!abrupt && (outcomes < tasksOfCycle || outcomes > tasksOfCycle + groupsOfCycle)) {
            violations.add(
                    where + ": " + tasksOfCycle + " tasks were accepted, and " + outcomes + " counted: " + counts);
        }
        stats.workers().stream()
                .filter(worker -> worker.waiting() != 0)
                .forEach(worker -> violations.add(where + ": something is left in the rings of " + worker));
        if (stats.broken()) {
            violations.add(where + ": the orchestrator is broken");
        }
    }

    private static void sleepUntil(long nanos) {
        while (System.nanoTime() < nanos) {
            LockSupport.parkNanos(nanos - System.nanoTime());
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while submitters were running", e);
        }
    }

    private static long usedHeap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
