package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.topology.TopologyReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tasks cross, which stay, and how long they wait, on machines whose tasks take a given time. */
class VirtualPoolTest {
    private static final long AGE = 200_000;
    private static final double WAKE = 5_000;
    private static final double MICRO = 1_000;
    private static final double MILLI = 1_000_000;

    /** A pool, its clock, and tasks that each take a given time. */
    private static final class Machine implements VirtualPool.Clock {
        private static final int WATCH = -1;
        /** Added to the number of a task: an event that submits it. */
        private static final int SUBMIT = 1 << 20;

        private final WorkerLayout layout;
        private final VirtualPool pool;
        private final Mapping mapping;
        private final EventQueue events = new EventQueue();
        private final List<Double> lengths = new ArrayList<>();
        private final List<Double> submitted = new ArrayList<>();
        private final List<Double> begun = new ArrayList<>();
        private final List<Integer> homes = new ArrayList<>();
        private final Set<Integer> waiting = new HashSet<>();
        private final int[] current;
        /** Since when each domain has had an idle worker. */
        private final double[] idleSince;

        private final boolean reports;
        private double slowdown = 1;
        /** Tasks that are still to be submitted, each when one ends. */
        private int chained;

        private boolean observes;
        private double now;
        private double watchDue;
        private int mostAtOnce;
        /** The longest that a task has waited while the same other domain had an idle worker. */
        private double longestBesideIdle;

        Machine(String topology, SchedulingPolicy scheduling, boolean reports) {
            this(topology, scheduling, AGE, reports);
        }

        Machine(String topology, SchedulingPolicy scheduling, long age, boolean reports) {
            this.layout = WorkerLayout.of(TopologyReader.synthetic(topology).read());
            this.pool = new VirtualPool(layout, scheduling, new CrossDomainGate(age), this, WAKE, 1);
            this.mapping = Mapping.of(
                    layout.domains(), IntStream.range(0, layout.domains()).toArray());
            this.current = new int[layout.workers()];
            Arrays.fill(current, -1);
            this.idleSince = new double[layout.domains()];
            this.reports = reports;
        }

        /** Submits a task to a domain at a time. */
        void submitAt(double time, int domain, double nanos) {
            lengths.add(nanos);
            submitted.add(time);
            begun.add(-1.0);
            homes.add(domain);
            events.add(time, SUBMIT + lengths.size() - 1);
        }

        void run() {
            int left = lengths.size() + chained;
            while (left > 0) {
                now = events.time();
                int event = events.take();
                if (event == WATCH) {
                    if (now == watchDue) {
                        pool.watch();
                    }
                } else if (event >= SUBMIT) {
                    submit(event - SUBMIT);
                } else {
                    if (current[event] >= 0) {
                        left--;
                        submitNext(current[event]);
                    }
                    look(event);
                }
                mostAtOnce = Math.max(mostAtOnce, (int)
                        Arrays.stream(current).filter(task -> task >= 0).count());
                if (observes) {
                    observe();
                }
            }
        }

        private void submit(int task) {
            waiting.add(task);
            VirtualQuery query = new VirtualQuery(0, 1, now, 1);
            pool.submit(VirtualTask.graphSearch(homes.get(task), 0, 0, new int[] {task}, 1, 64, query), mapping);
        }

        private void submitNext(int ended) {
            if (chained > 0) {
                chained--;
                lengths.add(lengths.get(ended));
                submitted.add(now);
                begun.add(-1.0);
                homes.add(homes.get(ended));
                submit(lengths.size() - 1);
            }
        }

        private void look(int worker) {
            if (current[worker] >= 0 && reports) {
                pool.ran(worker, Math.round(taskNanos(worker, current[worker])), 1_000);
            }
            VirtualTask next = pool.next(worker);
            current[worker] = next == null ? -1 : next.key(0);
            if (next != null) {
                begun.set(current[worker], now);
                waiting.remove(current[worker]);
                events.add(now + taskNanos(worker, current[worker]), worker);
            }
        }

        private double taskNanos(int worker, int task) {
            boolean crossed = layout.domainOf(worker) != homes.get(task);
            return lengths.get(task) * (crossed ? slowdown : 1);
        }

        private void observe() {
            for (int task : waiting) {
                for (int domain = 0; domain < layout.domains(); domain++) {
                    if (domain != homes.get(task) && pool.domains().idle(domain) > 0) {
                        double since = Math.max(submitted.get(task), idleSince[domain]);
                        longestBesideIdle = Math.max(longestBesideIdle, now - since);
                    }
                }
            }
            for (int domain = 0; domain < layout.domains(); domain++) {
                if (pool.domains().idle(domain) == 0) {
                    idleSince[domain] = now;
                }
            }
        }

        @Override
        public double now() {
            return now;
        }

        @Override
        public void wakeAt(double time, int worker) {
            events.add(time, worker);
        }

        @Override
        public void watchAt(double time) {
            watchDue = time;
            events.add(time, WATCH);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void burstsThatTheHomeDomainServesWithinTheAgeStayThere(int perWorker) {
        Machine machine = new Machine("pack:1 l3:4 core:8 pu:1", SchedulingPolicy.HOME_DOMAIN, true);
        for (int burst = 0; burst < 50; burst++) {
            for (int task = 0; task < 8 * perWorker; task++) {
                machine.submitAt(burst * MILLI, burst % 4, 50 * MICRO);
            }
        }
        machine.run();
        assertThat(machine.pool.crossSteals()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"pack:1 l3:4 core:2 pu:1, 8", "pack:2 l3:6 core:8 pu:1, 96", "pack:1 l3:3 core:20 pu:1, 60"})
    void aFloodIsServedByAllWorkersOfTheMachine(String topology, int workers) {
        Machine machine = new Machine(topology, SchedulingPolicy.HOME_DOMAIN, true);
        int tasks = 100 * workers;
        for (int task = 0; task < tasks; task++) {
            machine.submitAt(0, 0, MILLI);
        }
        machine.run();
        assertThat(machine.mostAtOnce).isEqualTo(workers);
        assertThat(machine.now).isLessThan(1.1 * tasks / workers * MILLI);
    }

    @Test
    void ofShortTasksAThiefThatIsAwakeSeesByItselfWhatHasBecomeOld() {
        long age = 20_000;
        Machine machine = new Machine("pack:1 l3:2 core:1 pu:1", SchedulingPolicy.HOME_DOMAIN, age, true);
        int clients = 64;
        for (int client = 0; client < clients; client++) {
            machine.submitAt(0, 0, MICRO);
        }
        machine.chained = 10_000;
        machine.run();
        double alone = (clients + 10_000) * MICRO;
        assertThat(machine.now).isLessThan(.6 * alone);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTaskBehindALongOneCrossesSoonEvenIfItIsTheOnlyOne(boolean reports) {
        Machine machine = new Machine("pack:1 l3:2 core:1 pu:1", SchedulingPolicy.HOME_DOMAIN, reports);
        machine.submitAt(0, 0, 3_000 * MILLI);
        machine.submitAt(10 * MICRO, 0, 10 * MICRO);
        machine.run();
        assertThat(machine.begun.get(1)).isBetween((double) AGE, 3.0 * AGE);
    }

    @ParameterizedTest
    @CsvSource({
        "pack:1 l3:2 core:1 pu:1, false",
        "pack:1 l3:2 core:1 pu:1, true",
        "pack:1 l3:4 core:4 pu:1, false",
        "pack:1 l3:4 core:4 pu:1, true",
        "pack:2 l3:3 core:8 pu:1, true"
    })
    void noTaskWaitsForMoreThanThreeAgesBesideAnIdleDomain(String topology, boolean reports) {
        SplittableRandom random = new SplittableRandom(3);
        for (int trace = 0; trace < 20; trace++) {
            Machine machine = new Machine(topology, SchedulingPolicy.HOME_DOMAIN, reports);
            machine.slowdown = 1.5;
            machine.observes = true;
            // The mean task loses less than the age by crossing: the age is the bound.
            double busy = random.nextDouble(.5, 3) * machine.layout.workersIn(0);
            double at = 0;
            for (int task = 0; task < 300; task++) {
                at += random.nextDouble() * 2 * 100 * MICRO / busy;
                double nanos = (random.nextInt(50) == 0 ? 20 : 1) * random.nextDouble(150 * MICRO);
                machine.submitAt(at, random.nextInt(4) == 0 ? random.nextInt(machine.layout.domains()) : 0, nanos);
            }
            machine.run();
            assertThat(machine.longestBesideIdle).isLessThan(3.0 * AGE);
        }
    }

    @Test
    void tasksThatLoseMuchByCrossingWaitForAsLongAsTheyWouldLose() {
        Machine machine = new Machine("pack:1 l3:2 core:1 pu:1", SchedulingPolicy.HOME_DOMAIN, true);
        machine.slowdown = 3;
        // The first tasks cross, which measures the cost: each loses 2 ms, then none crosses that waits for less.
        for (int task = 0; task < 200; task++) {
            machine.submitAt(task * 1.1 * MILLI, 0, MILLI);
            if (task % 10 == 0) {
                machine.submitAt(task * 1.1 * MILLI, 0, MILLI);
            }
        }
        machine.run();
        assertThat(machine.pool.crossSteals()).isBetween(1L, 30L);
    }

    @ParameterizedTest
    @EnumSource(SchedulingPolicy.class)
    void everyTaskIsRunUnderEveryPolicyAndOnlyThoseThatStealCross(SchedulingPolicy scheduling) {
        for (String topology :
                List.of("pack:1 l3:4 core:2 pu:1", "pack:2 l3:2 core:3 pu:1", "pack:1 l3:2 core:18 pu:1")) {
            SplittableRandom random = new SplittableRandom(4);
            Machine machine = new Machine(topology, scheduling, true);
            double at = 0;
            for (int task = 0; task < 3_000; task++) {
                at += random.nextInt(300) == 0 ? 3 * MILLI : random.nextDouble(2 * MICRO);
                machine.submitAt(
                        at,
                        random.nextInt(3) == 0 ? random.nextInt(machine.layout.domains()) : 0,
                        random.nextDouble(100 * MICRO));
            }
            machine.run();
            assertThat(machine.begun).allSatisfy(time -> assertThat(time).isNotNegative());
            assertThat(machine.pool.crossSteals() > 0)
                    .as("crossed on %s", topology)
                    .isEqualTo(scheduling != SchedulingPolicy.ROUND_ROBIN);
        }
    }
}
