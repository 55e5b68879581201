package io.github.roost.core.pool;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** {@link IdleWorkers} of a domain of two workers whose threads are not started: actors take their steps. */
public class WakeUpStress {
    private WakeUpStress() {}

    /** What both tests begin with: both workers look. */
    static class Domain {
        final WorkerPool pool = StressTasks.pool();
        final Runner one = StressTasks.looking(pool, 0);
        final Runner other = StressTasks.looking(pool, 1);

        void put(int worker) {
            StressTasks.put(pool, worker, StressTasks.task(StressTasks.epoch()));
        }

        /** Whether nobody is up, or on the way, though a task waits. */
        boolean isStuck() {
            return pool.worker(0).asleep() != null && pool.worker(1).asleep() != null && pool.anythingWaitsIn(0);
        }
    }

    /** A task is put at a worker that goes to sleep, while the other sleeps. */
    @JCStressTest
    @Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "somebody is up to run the task")
    @Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "all sleep, and a task waits")
    @State
    public static class PutAgainstSleep extends Domain {
        private boolean sleeps;

        public PutAgainstSleep() {
            StressTasks.fallsAsleep(other);
        }

        @Actor
        public void submitter() {
            put(0);
        }

        @Actor
        public void worker() {
            sleeps = StressTasks.fallsAsleep(one);
        }

        @Arbiter
        public void afterwards(Z_Result result) {
            result.r1 = sleeps && isStuck();
        }
    }

    /** A looking worker takes one task, as another is put whose submitter may rely on it, while the other worker sleeps. */
    @JCStressTest
    @Outcome(id = "false", expect = Expect.ACCEPTABLE, desc = "the other was woken, or the second task was taken")
    @Outcome(id = "true", expect = Expect.FORBIDDEN, desc = "the other sleeps beside the task left behind")
    @State
    public static class PutAgainstFind extends Domain {
        public PutAgainstFind() {
            StressTasks.fallsAsleep(other);
            pool.worker(0).interactive.put(StressTasks.task(StressTasks.epoch()));
        }

        @Actor
        public void submitter() {
            put(0);
        }

        @Actor
        public void worker() {
            if (pool.worker(0).interactive.poll() != null) {
                pool.idle().found(pool.worker(0));
            }
        }

        @Arbiter
        public void afterwards(Z_Result result) {
            result.r1 = pool.worker(1).asleep() != null && pool.anythingWaitsIn(0);
        }
    }
}
