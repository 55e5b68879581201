package io.github.roost.core.pool;

import io.github.roost.core.Priority;
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
    private final WorkerPool pool = StressTasks.pool();
    private final Runner runner = StressTasks.runner(pool, 0);
    private final boolean otherSleeps = StressTasks.parks(StressTasks.runner(pool, 1));
    private boolean sleeps;

    @Actor
    public void submitter() {
        pool.offer(0, Priority.INTERACTIVE, StressTasks.task(StressTasks.epoch()));
    }

    @Actor
    public void worker() {
        sleeps = StressTasks.parks(runner);
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
