package io.github.roost.core.pool;

import io.github.roost.core.Priority;
import io.github.roost.core.spi.Pending;
import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.Parked;
import io.github.roost.core.task.Request;
import io.github.roost.core.task.Task;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A task that parks while what it waits for completes, while it is cancelled: it goes on once. */
public class ParkStress {
    private ParkStress() {}

    /** A parked task of a pool whose workers do not run. */
    static class Parking {
        final Pending pending = new Pending();
        final Worker worker = StressTasks.pool().worker(0);
        final Request<Integer, Integer> task;

        Parking() {
            Search<Integer, Integer> search = (query, context) -> Step.done(query);
            task = new Request<>(
                    Request.Kind.STEPS,
                    search,
                    0,
                    0,
                    StressTasks.epoch(),
                    Priority.INTERACTIVE,
                    Task.NOT_TIMED,
                    Task.NO_DEADLINE);
        }

        void park() {
            Parked.park(worker, task, pending);
        }

        /** How often it goes on, and what is left in the set of those that are parked. */
        void count(II_Result result) {
            while (worker.resumed.poll() != null) {
                result.r1++;
            }
            result.r2 = worker.parked.size();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "goes on once, and nothing is left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or twice, or something is left behind")
    @State
    public static class AgainstComplete {
        private final Parking parking = new Parking();

        @Actor
        public void worker() {
            parking.park();
        }

        @Actor
        public void source() {
            parking.pending.complete();
        }

        @Arbiter
        public void afterwards(II_Result result) {
            parking.count(result);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "goes on once, and nothing is left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or twice, or something is left behind")
    @State
    public static class AgainstCancel {
        private final Parking parking = new Parking();

        @Actor
        public void worker() {
            parking.park();
        }

        @Actor
        public void caller() {
            parking.task.cancel(false);
        }

        @Arbiter
        public void afterwards(II_Result result) {
            parking.count(result);
        }
    }

    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "goes on once, and nothing is left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or twice, or something is left behind")
    @State
    public static class CompleteAgainstCancel {
        private final Parking parking = new Parking();

        public CompleteAgainstCancel() {
            parking.park();
        }

        @Actor
        public void caller() {
            parking.task.cancel(false);
        }

        @Actor
        public void source() {
            parking.pending.complete();
        }

        @Arbiter
        public void afterwards(II_Result result) {
            parking.count(result);
        }
    }
}
