package io.github.roost.core.pool;

import io.github.roost.core.IdleStrategy;
import io.github.roost.core.Machines;
import io.github.roost.core.Priority;
import io.github.roost.core.Scheduling;
import io.github.roost.core.dispatch.CrossDomainGate;
import io.github.roost.core.dispatch.WorkerLayout;
import io.github.roost.core.monitor.TrafficMonitor;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * A task is submitted to a worker that is going to sleep, while the other worker of its domain sleeps: one of them stays
 * up or is woken. The workers' threads are not started; actors take their steps.
 */
@JCStressTest
@Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "somebody is up to run the task")
@Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "all sleep, and a task waits")
@State
public class WakeUpStress {
    private static final WorkerLayout LAYOUT = WorkerLayout.of(Machines.of(1, 2));
    private static final TrafficMonitor MONITOR = new TrafficMonitor(1);

    private final WorkerPool pool = new WorkerPool(
            LAYOUT,
            Scheduling.V2,
            Machines.unpinned(),
            () -> -1,
            new CrossDomainGate(2, 0),
            IdleStrategy.spinThenPark(1),
            2,
            MONITOR,
            new PoolListener() {
                @Override
                public void crossSteal(int thief, int victim, int slot) {}

                @Override
                public void ran(int slot, int worker, long nanos) {}

                @Override
                public void workerReplaced(int worker) {}
            });
    private final boolean otherSleeps = pool.worker(1).laysDown();
    private boolean sleeps;

    @Actor
    public void submitter() {
        pool.offer(0, Priority.INTERACTIVE, StressTasks.task(StressTasks.epoch()));
    }

    @Actor
    public void worker() {
        sleeps = pool.worker(0).laysDown();
    }

    @Arbiter
    public void afterwards(Z_Result result) {
        boolean bothSleep = sleeps
                && otherSleeps
                && pool.worker(0).isParked()
                && pool.worker(1).isParked();
        result.r1 = bothSleep && pool.worker(0).waiting() > 0;
    }
}
