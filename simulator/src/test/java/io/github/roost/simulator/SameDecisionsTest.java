package io.github.roost.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.dispatch.CrossingCost;
import io.github.roost.core.dispatch.Crossings;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.pool.SteppedPool;
import io.github.roost.topology.TopologyReader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The pool of {@code core} and the simulator's on the same random traces: who is woken, who takes which task, when the gate is
 * open for whom, and when who watches looks again is the same after every step. A failure names the seed; {@code
 * -Droost.seed=N} repeats it.
 */
@Tag("stress")
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SameDecisionsTest {
    private static final int TRACES = 6;
    private static final int STEPS = 2_500;
    private static final long SEED = Long.getLong("roost.seed", System.nanoTime());

    static Stream<Arguments> machinesAndPolicies() {
        return Stream.of(
                        "pack:1 l3:4 core:2 pu:1",
                        "pack:1 l3:2 core:8 pu:1",
                        "pack:2 l3:2 core:3 pu:1",
                        "pack:1 l3:2 core:18 pu:1",
                        "pack:1 l3:3 core:1 pu:1")
                .flatMap(machine ->
                        Stream.of(SchedulingPolicy.values()).map(scheduling -> Arguments.of(machine, scheduling)));
    }

    @ParameterizedTest
    @MethodSource("machinesAndPolicies")
    void thePoolAndTheSimulatorDecideAlike(String machine, SchedulingPolicy scheduling) {
        WorkerLayout layout = WorkerLayout.of(TopologyReader.synthetic(machine).read());
        long crossSteals = 0;
        int wokenByWatch = 0;
        int costsKnown = 0;
        for (int trace = 0; trace < TRACES; trace++) {
            try (Both both = new Both(layout, scheduling, SEED + trace)) {
                both.run();
                crossSteals += both.pool.crossSteals();
                wokenByWatch += both.wokenByWatch;
                costsKnown += both.costsKnown();
            }
        }
        assertThat(crossSteals > 0)
                .as("tasks have crossed, seed %d", SEED)
                .isEqualTo(scheduling != SchedulingPolicy.ROUND_ROBIN);
        assertThat(wokenByWatch > 0)
                .as("helpers were woken by the clock, seed %d", SEED)
                .isEqualTo(scheduling.gated());
        assertThat(costsKnown > 0)
                .as("what crossing costs was found out, seed %d", SEED)
                .isEqualTo(scheduling.gated());
    }

    /** Both pools, and what each has wanted to happen. */
    private static final class Both implements VirtualPool.Clock, AutoCloseable {
        private static final long NEVER = Long.MAX_VALUE;
        private static final CrossDomainGate GATE = CrossDomainGate.DEFAULT;

        private final WorkerLayout layout;
        private final SchedulingPolicy scheduling;
        private final long seed;
        private final SplittableRandom random;
        private final Mapping mapping;
        private final SteppedPool pool;
        private final VirtualPool virtual;
        private final List<Integer> wokenInPool = new ArrayList<>();
        private final List<Integer> wokenInVirtual = new ArrayList<>();
        private final BitSet woken = new BitSet();
        private final BitSet running = new BitSet();
        private long virtualWatch = NEVER;
        private long now = 1_000_000;
        private int submitted;
        private int ran;
        private int steps;
        private int wokenByWatch;
        private final double slowdown;

        Both(WorkerLayout layout, SchedulingPolicy scheduling, long seed) {
            this.layout = layout;
            this.scheduling = scheduling;
            this.seed = seed;
            this.random = new SplittableRandom(seed);
            this.slowdown = 1 + random.nextInt(4) / 2.0;
            this.mapping = mapping();
            this.pool = new SteppedPool(
                    layout, scheduling, GATE, mapping, () -> now, new SplittableRandom(seed), wokenInPool::add);
            this.virtual = new VirtualPool(layout, scheduling, GATE, this, 0, seed);
        }

        /** One home each for a few mapping ids, and two for the last. */
        private Mapping mapping() {
            int slots = 1 + 2 * layout.domains();
            int[] homes = random.ints(slots, 0, layout.domains()).toArray();
            return Mapping.of(layout.domains(), homes)
                    .edit(slots)
                    .homes(slots - 1, 0, layout.domains() - 1)
                    .build();
        }

        void run() {
            compare("the beginning");
            surge();
            while (steps < STEPS) {
                if (random.nextInt(3) == 0) {
                    flood();
                } else {
                    phase();
                }
            }
            drain();
        }

        /** A stretch with a load of its own: from rare tasks to floods of one mapping id. */
        private void phase() {
            int submits = random.nextInt(60);
            int ends = 1 + random.nextInt(40);
            int watches = random.nextInt(10);
            int ticks = random.nextInt(30);
            double hot = random.nextDouble();
            long longest = 1L << random.nextInt(8, 21);
            int end = steps + random.nextInt(20, 300);
            while (steps < end) {
                int draw = random.nextInt(submits + ends + watches + ticks);
                if (draw < submits) {
                    submit(random.nextDouble() < hot ? 0 : random.nextInt(mapping.slots()));
                } else if (draw < submits + ends) {
                    step();
                } else if (draw < submits + ends + watches) {
                    watch();
                } else {
                    now += random.nextLong(longest);
                    compare("the clock moves");
                }
            }
        }

        /** Far more of one mapping id than its domain can run, and nothing else. */
        private void surge() {
            int workers = layout.workersIn(mapping.home(0, 0));
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 4 * workers; i++) {
                    submit(0);
                }
                for (int i = 0; i < workers; i++) {
                    step();
                }
                now += GATE.ageNanos();
                watch();
            }
        }

        /** A queue that stands for long: helpers are woken as the clock moves on, and wake others. */
        private void flood() {
            for (int i = random.nextInt(12) * layout.workersIn(mapping.home(0, 0)); i > 0; i--) {
                submit(0);
            }
            for (int i = random.nextInt(60); i > 0; i--) {
                now += random.nextLong(300_000);
                watch();
                for (int j = random.nextInt(6); j > 0; j--) {
                    step();
                }
            }
        }

        /** Nothing is forgotten: all is run by those who are up or woken. */
        private void drain() {
            while (ran < submitted || !running.isEmpty() || !woken.isEmpty()) {
                assertThat(running.isEmpty() && woken.isEmpty() && !pool.watches())
                        .as("all sleep beside what waits, seed %d", seed)
                        .isFalse();
                step();
                watch();
                now += 10_000;
            }
        }

        private void submit(int slot) {
            int task = submitted++;
            pool.submit(slot, task);
            VirtualQuery query = new VirtualQuery(0, 1, 0, 1);
            virtual.submit(VirtualTask.graphSearch(slot, 0, 0, new int[] {task}, 1, 64, query), mapping);
            compare("task %d of mapping id %d is submitted".formatted(task, slot));
        }

        /** One who runs a task ends it, or one who was woken looks. */
        private void step() {
            BitSet up = (BitSet) running.clone();
            up.or(woken);
            if (up.isEmpty()) {
                steps++;
                return;
            }
            int[] all = up.stream().toArray();
            int worker = all[random.nextInt(all.length)];
            if (running.get(worker) && scheduling.gated()) {
                measure(worker);
            }
            running.clear(worker);
            woken.clear(worker);
            int task = pool.step(worker);
            VirtualTask virtualTask = virtual.next(worker);
            String step = "worker %d goes on".formatted(worker);
            assertThat(virtualTask == null ? SteppedPool.SLEEPS : virtualTask.key(0))
                    .as(step + ", seed %d", seed)
                    .isEqualTo(task);
            if (task != SteppedPool.SLEEPS) {
                running.set(worker);
                ran++;
            }
            compare(step);
        }

        /** A task that crossed has taken as much longer as it does on this trace. */
        private void measure(int worker) {
            boolean crossed = pool.homeOf(worker) != layout.domainOf(worker);
            long bytes = random.nextLong(1, 10_001);
            long nanos = Math.round(bytes * (crossed ? slowdown : 1));
            pool.measured(worker, nanos, bytes);
            virtual.ran(worker, nanos, bytes);
        }

        /** At the time it asked for, or before. */
        private void watch() {
            if (virtualWatch == NEVER) {
                steps++;
                return;
            }
            virtualWatch = NEVER;
            long wait = pool.watch();
            virtual.watch();
            wokenByWatch += wokenInPool.size();
            assertThat(virtualWatch)
                    .as("the next look, step %d, seed %d", steps, seed)
                    .isEqualTo(wait == NEVER ? NEVER : now + wait);
            compare("who watches looks");
        }

        private void compare(String step) {
            String when = "step %d: %s, seed %d".formatted(steps++, step, seed);
            assertThat(wokenInVirtual).as("woken, " + when).isEqualTo(wokenInPool);
            wokenInPool.forEach(woken::set);
            wokenInPool.clear();
            wokenInVirtual.clear();
            assertThat(virtualWatch != NEVER).as("watched, " + when).isEqualTo(pool.watches());
            for (int worker = 0; worker < layout.workers(); worker++) {
                assertThat(virtual.load(worker))
                        .as("load of worker %d, %s", worker, when)
                        .isEqualTo(pool.load(worker));
            }
            for (int domain = 0; domain < layout.domains(); domain++) {
                assertThat(seen(virtual.domains(), domain))
                        .as("domain %d, %s", domain, when)
                        .isEqualTo(seen(pool.domains(), domain));
                for (int thief = 0; thief < layout.domains(); thief++) {
                    assertThat(virtual.gateOpens(thief, domain))
                            .as("gate of %s from domain %d to %d, %s", scheduling, domain, thief, when)
                            .isEqualTo(pool.gateOpens(thief, domain));
                }
            }
        }

        /** Domains of which tasks have crossed and stayed, so that their cost has decided. */
        int costsKnown() {
            int known = 0;
            for (int domain = 0; domain < layout.domains(); domain++) {
                CrossingCost cost = pool.domains().cost(domain);
                known += cost.crossingBytes() > 0 && cost.homeBytes() > 0 ? 1 : 0;
            }
            return known;
        }

        private static List<Object> seen(Crossings.Domains domains, int domain) {
            return List.of(domains.waiting(domain), domains.idle(domain), domains.old(domain), domains.cost(domain));
        }

        @Override
        public double now() {
            return now;
        }

        @Override
        public void wakeAt(double time, int worker) {
            wokenInVirtual.add(worker);
        }

        @Override
        public void watchAt(double time) {
            virtualWatch = (long) time;
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}
