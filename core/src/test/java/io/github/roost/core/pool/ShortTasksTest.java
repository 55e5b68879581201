package io.github.roost.core.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.dispatch.Dispatcher;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.monitor.TrafficMonitor;
import io.github.roost.core.policy.CrossDomainGate;
import io.github.roost.core.policy.IdleStrategy;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.testkit.Machines;
import io.github.roost.topology.Pinner;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Where tasks wait while they are short. The workers' threads are not started. */
class ShortTasksTest {
    private static final long SHORT = Worker.SHORT_NANOS - 1;
    private static final long LONG = Worker.SHORT_NANOS;

    private final WorkerLayout layout = WorkerLayout.of(Machines.of(2, 2));
    private final Mapping mapping =
            Mapping.of(2, IntStream.range(0, 100).map(slot -> 0).toArray());
    private int cpuOfCaller = -1;
    private final WorkerPool pool = new WorkerPool(
            new WorkerPool.Setup(
                    layout,
                    SchedulingPolicy.HOME_DOMAIN,
                    core -> new Pinner.Result(core.pus(), core.pus(), core.pus().getFirst(), true, ""),
                    () -> cpuOfCaller,
                    CrossDomainGate.DEFAULT,
                    IdleStrategy.spinThenPark(1),
                    4,
                    0,
                    new TrafficMonitor(2, 4),
                    id -> true,
                    new PoolListener() {
                        @Override
                        public void crossSteal(int thief, int victim, int slot) {}

                        @Override
                        public void ran(int slot, int worker, long nanos) {}

                        @Override
                        public void broke(Throwable error) {}
                    }),
            Dispatcher.of(SchedulingPolicy.HOME_DOMAIN, layout),
            () -> -1);

    ShortTasksTest() {
        for (int worker = 0; worker < layout.workers(); worker++) {
            pool.pin(pool.worker(worker));
        }
    }

    /** A slot whose tasks wait at the first worker of the first domain. */
    private int slotOfFirst() {
        return IntStream.range(0, mapping.slots())
                .filter(slot -> pool.dispatch().worker(slot, mapping) == 0)
                .findFirst()
                .orElseThrow();
    }

    private void callerIsOnCoreOf(int worker) {
        cpuOfCaller = layout.coreOf(worker).pus().getFirst();
    }

    @Test
    void shortTasksWaitAtTheCoreOfTheirCaller() {
        int slot = slotOfFirst();
        callerIsOnCoreOf(1);
        pool.worker(0).runsTasksOf(LONG);
        pool.worker(1).runsTasksOf(SHORT);
        assertThat(pool.dispatch().worker(slot, mapping)).as("long tasks").isZero();
        pool.worker(0).runsTasksOf(SHORT);
        assertThat(pool.dispatch().worker(slot, mapping)).isEqualTo(1);
        pool.worker(0).runsTasksOf(LONG);
        assertThat(pool.dispatch().worker(slot, mapping)).as("long again").isZero();
        pool.worker(0).runsTasksOf(SHORT);
        pool.worker(1).runsTasksOf(LONG);
        assertThat(pool.dispatch().worker(slot, mapping))
                .as("long at the caller's core")
                .isZero();
    }

    @Test
    void theyStayInTheirDomain() {
        int slot = slotOfFirst();
        for (int worker = 0; worker < layout.workers(); worker++) {
            pool.worker(worker).runsTasksOf(SHORT);
        }
        callerIsOnCoreOf(2);
        assertThat(pool.dispatch().worker(slot, mapping)).isZero();
        cpuOfCaller = -1;
        assertThat(pool.dispatch().worker(slot, mapping))
                .as("a caller somewhere")
                .isZero();
    }

    @Test
    void whileAnyWorkerBesideSleepsTheyWakeIt() {
        int slot = slotOfFirst();
        callerIsOnCoreOf(1);
        pool.worker(0).runsTasksOf(SHORT);
        pool.worker(1).runsTasksOf(SHORT);
        assertThat(StressTasks.fallsAsleep(StressTasks.looking(pool, 0))).isTrue();
        assertThat(pool.dispatch().worker(slot, mapping)).isZero();
    }
}
