package io.github.roost.core.task;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Priority;
import io.github.roost.core.pool.StressTasks;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.core.spi.Step;
import io.github.roost.core.task.SharedQueue.Entry;
import io.github.roost.testkit.Machines;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A {@link SharedQueue} that is joined as groups are taken: every entry is taken once, by one who was told to. */
public class SharedStress {
    private static final MappingId ID = anyId();

    private SharedStress() {}

    private static MappingId anyId() {
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build()) {
            return orchestrator.register("stress").id();
        }
    }

    private static SharedQueue<Integer, Integer> queue() {
        return new SharedQueue<>(ID, (group, context) -> Step.done(true), GroupRule.DEFAULT);
    }

    /** A query of one part, the queue's. */
    static final class Query {
        final AtomicInteger goneOn = new AtomicInteger();
        final Entry entry;

        Query(SharedQueue<Integer, Integer> queue) {
            Request<Integer, Integer> request = new Request<>(
                    Request.Kind.PARTS,
                    null,
                    0,
                    0,
                    StressTasks.epoch(),
                    Priority.INTERACTIVE,
                    Task.NOT_TIMED,
                    Task.NO_DEADLINE);
            Join join = new Join(
                    request,
                    new Step.Fork<Integer, Integer, Integer, Integer>(
                            List.of(), List.of(queue), 0, (query, results, context) -> Step.done(0)));
            join.countOff(1, task -> {});
            entry = new Entry(join, 0, 0);
        }
    }

    @JCStressTest
    @Outcome(id = "11, 0", expect = Expect.ACCEPTABLE, desc = "each taken once, by one who was told")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost or taken twice")
    @State
    public static class TwoJoinAndTake {
        private final SharedQueue<Integer, Integer> queue = queue();
        private final Query one = new Query(queue);
        private final Query other = new Query(queue);
        private final AtomicInteger taken = new AtomicInteger();

        @Actor
        public void first() {
            join(one);
        }

        @Actor
        public void second() {
            join(other);
        }

        private void join(Query query) {
            // All workers busy: one task takes a group of both, if it comes late enough.
            if (queue.join(Priority.INTERACTIVE, query.entry, false)) {
                for (Entry entry = queue.take(Priority.INTERACTIVE); entry != null; entry = entry.next) {
                    taken.addAndGet(entry == one.entry ? 1 : 10);
                }
            }
        }

        @Arbiter
        public void afterwards(II_Result result) {
            result.r1 = taken.get();
            result.r2 = queue.waiting();
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "each query goes on once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a query is lost, or goes on twice")
    @State
    public static class AGroupFailsAsAQueryJoins {
        private final SharedQueue<Integer, Integer> queue = queue();
        private final Query before = new Query(queue);
        private final Query joining = new Query(queue);
        private final GroupTask group = new GroupTask(StressTasks.epoch(), Priority.INTERACTIVE, null).of(queue);

        public AGroupFailsAsAQueryJoins() {
            queue.join(Priority.INTERACTIVE, before.entry, true);
        }

        @Actor
        public void worker() {
            fail(group);
        }

        @Actor
        public void caller() {
            if (queue.join(Priority.INTERACTIVE, joining.entry, true)) {
                // Told: its own task serves it.
                fail(new GroupTask(StressTasks.epoch(), Priority.INTERACTIVE, null).of(queue));
            }
        }

        private void fail(GroupTask task) {
            task.fail(new IllegalStateException("failed"));
            task.deliver(gone -> (gone == before.entry.join.task() ? before : joining).goneOn.incrementAndGet());
        }

        @Arbiter
        public void afterwards(II_Result result) {
            result.r1 = before.goneOn.get();
            result.r2 = joining.goneOn.get();
        }
    }
}
