package io.github.roost.core.task;

import io.github.roost.core.placement.Epoch;
import io.github.roost.core.pool.StressTasks;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** A {@link TaskQueue} with several producers and consumers. */
public class TaskQueueStress {
    private TaskQueueStress() {}

    private static int drained(TaskQueue queue) {
        int count = 0;
        while (queue.poll() != null) {
            count++;
        }
        return count;
    }

    /** A queue whose first segment is filled up to the last slots, so that segments change in the test. */
    private static TaskQueue nearEndOfSegment() {
        TaskQueue queue = new TaskQueue();
        for (int i = 0; i < 511; i++) {
            queue.put(StressTasks.task(EPOCH));
            queue.poll();
        }
        return queue;
    }

    private static final Epoch EPOCH = StressTasks.epoch();

    /** Two threads that each put and take: everything put is taken once. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "each taken once, and none left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice")
    @State
    public static class EverythingPutIsTakenOnce {
        private final TaskQueue queue = new TaskQueue();
        private final Task[] tasks = {StressTasks.task(EPOCH), StressTasks.task(EPOCH)};
        private int taken1;
        private int taken2;

        @Actor
        public void thread1() {
            queue.put(tasks[0]);
            taken1 = queue.poll() == null ? 0 : 1;
        }

        @Actor
        public void thread2() {
            queue.put(tasks[1]);
            taken2 = queue.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = taken1 + taken2 + drained(queue);
            result.r2 = queue.waiting() + (queue.hasTasks() ? 1 : 0);
        }
    }

    /** As above, where a segment ends and the next begins. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "each taken once, and none left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice")
    @State
    public static class AtTheEndOfASegment {
        private final TaskQueue queue = nearEndOfSegment();
        private final Task[] tasks = {StressTasks.task(EPOCH), StressTasks.task(EPOCH)};
        private int taken1;
        private int taken2;

        @Actor
        public void thread1() {
            queue.put(tasks[0]);
            taken1 = queue.poll() == null ? 0 : 1;
        }

        @Actor
        public void thread2() {
            queue.put(tasks[1]);
            taken2 = queue.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = taken1 + taken2 + drained(queue);
            result.r2 = queue.waiting() + (queue.hasTasks() ? 1 : 0);
        }
    }

    /** A consumer and a thread that removes want the same task: one gets it. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "one has it, and nothing is left")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice, or counted for ever")
    @State
    public static class OneOwner {
        private final TaskQueue queue = new TaskQueue();
        private final Task task = StressTasks.task(EPOCH);
        private final long place = queue.put(task);
        private int owner;
        private int remover;

        @Actor
        public void owner() {
            owner = queue.poll() == null ? 0 : 1;
        }

        @Actor
        public void remover() {
            remover = queue.remove(place, task) ? 1 : 0;
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = owner + remover + drained(queue);
            result.r2 = queue.waiting() + (queue.hasTasks() ? 1 : 0);
        }
    }

    /** What one producer puts in two steps comes out in that order. */
    @JCStressTest
    @Outcome(id = "1, 2, 0", expect = Expect.ACCEPTABLE, desc = "both taken at once, in order")
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "the second taken later")
    @Outcome(id = "0, 0, 2", expect = Expect.ACCEPTABLE, desc = "both taken later")
    @Outcome(expect = Expect.FORBIDDEN, desc = "out of order, lost, or taken twice")
    @State
    public static class FirstInFirstOut {
        private final TaskQueue queue = new TaskQueue();
        private final Task first = StressTasks.task(EPOCH);
        private final Task second = StressTasks.task(EPOCH);

        @Actor
        public void producer() {
            queue.put(first);
            queue.put(second);
        }

        @Actor
        public void consumer(III_Result result) {
            result.r1 = number(queue.poll());
            result.r2 = result.r1 == 0 ? 0 : number(queue.poll());
        }

        @Arbiter
        public void rest(III_Result result) {
            result.r3 = drained(queue);
        }

        private int number(@Nullable Task task) {
            return task == null ? 0 : task == first ? 1 : 2;
        }
    }
}
