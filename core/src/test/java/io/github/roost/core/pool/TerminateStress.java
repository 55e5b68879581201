package io.github.roost.core.pool;

import io.github.roost.core.OrchestratorClosedException;
import io.github.roost.core.task.Request;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** A {@link WorkerPool} that ends while a task comes. */
public class TerminateStress {
    private TerminateStress() {}

    /** The task is submitted, and no worker is left to run it. */
    @JCStressTest
    @Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "failed by one or the other")
    @Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "left in its queue for ever")
    @State
    public static class ATaskIsPut {
        private final WorkerPool pool = StressTasks.pool();
        private final Request<Integer, Integer> task = StressTasks.task(StressTasks.epoch());

        public ATaskIsPut() {
            pool.failEverything(new OrchestratorClosedException());
        }

        @Actor
        public void submitter() {
            StressTasks.put(pool, 0, task);
        }

        @Actor
        public void closer() {
            pool.terminate();
        }

        @Arbiter
        public void afterwards(Z_Result result) {
            result.r1 = task.isCompletedExceptionally();
        }
    }

    /** The task begins and does not end as long as the pool is there. */
    @JCStressTest
    @Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "failed as it began or while it ran")
    @Outcome(id = "false", expect = Expect.FORBIDDEN, desc = "runs as if nothing had been")
    @State
    public static class ATaskBegins {
        private final WorkerPool pool = StressTasks.pool();
        private final Request<Integer, Integer> task =
                StressTasks.task(StressTasks.epoch(), (query, context) -> endless(query));
        private final Runner runner = StressTasks.runner(pool, 0);
        private volatile boolean over;

        private int endless(int query) {
            while (!over) {
                Thread.onSpinWait();
            }
            return query;
        }

        @Actor
        public void worker() {
            runner.slices().run(task);
        }

        @Actor
        public void closer() {
            pool.failEverything(new OrchestratorClosedException());
            // As who closes lets searches go that have been failed.
            LockSupport.parkNanos(1);
            pool.terminate();
            over = true;
        }

        @Arbiter
        public void afterwards(Z_Result result) {
            result.r1 = task.isCompletedExceptionally();
        }
    }
}
