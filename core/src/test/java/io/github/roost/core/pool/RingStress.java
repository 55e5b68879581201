package io.github.roost.core.pool;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** A {@link Ring} with few places, so that they are used again and again. */
public class RingStress {
    /** Two threads that each put and take, with one place: everything put is taken once. */
    @JCStressTest
    @Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "both put, both taken once")
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "one found the ring full, the other was taken once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, or taken twice")
    @State
    public static class EverythingPutIsTakenOnce {
        private final Ring ring = new Ring(1);
        private final Task[] tasks = {StressTasks.task(StressTasks.epoch()), StressTasks.task(StressTasks.epoch())};
        private int put1;
        private int put2;
        private int taken1;
        private int taken2;

        @Actor
        public void thread1() {
            put1 = offer(ring, tasks[0]) ? 1 : 0;
            taken1 = ring.poll() == null ? 0 : 1;
        }

        @Actor
        public void thread2() {
            put2 = offer(ring, tasks[1]) ? 1 : 0;
            taken2 = ring.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = put1 + put2;
            result.r2 = taken1 + taken2 + drained(ring);
        }
    }

    /** An owner and a thief at a ring with one place, which the owner fills again. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "both tasks taken once, all places free")
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the second found the ring full")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, taken twice, or a place lost")
    @State
    public static class OwnerAndThief {
        private final Ring ring = new Ring(1);
        private final Task second = StressTasks.task(StressTasks.epoch());
        private int byOwner;
        private int byThief;

        public OwnerAndThief() {
            offer(ring, StressTasks.task(StressTasks.epoch()));
        }

        @Actor
        public void owner() {
            byOwner = ring.poll() == null ? 0 : 1;
            offer(ring, second);
        }

        @Actor
        public void thief() {
            byThief = ring.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void count(II_Result result) {
            result.r1 = byOwner + byThief + drained(ring);
            result.r2 = ring.waiting();
        }
    }

    /** What one producer puts in two steps comes out in that order, at whoever takes it, and complete. */
    @JCStressTest
    @Outcome(id = "1, 2, 0", expect = Expect.ACCEPTABLE, desc = "both taken at once, in order")
    @Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "the second taken later")
    @Outcome(id = "0, 0, 2", expect = Expect.ACCEPTABLE, desc = "both taken later")
    @Outcome(expect = Expect.FORBIDDEN, desc = "out of order, lost, or taken twice")
    @State
    public static class FirstInFirstOut {
        private final Ring ring = new Ring(2);
        private final Task first = StressTasks.task(StressTasks.epoch());
        private final Task second = StressTasks.task(StressTasks.epoch());

        @Actor
        public void producer() {
            offer(ring, first);
            offer(ring, second);
        }

        @Actor
        public void consumer(III_Result result) {
            result.r1 = number(ring.poll());
            result.r2 = result.r1 == 0 ? 0 : number(ring.poll());
        }

        @Arbiter
        public void rest(III_Result result) {
            result.r3 = drained(ring);
        }

        private int number(@Nullable Task task) {
            return task == null ? 0 : task == first ? 1 : 2;
        }
    }

    /** A place given back, among places that are used, loses nothing and blocks nothing. */
    @JCStressTest
    @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "both tasks came out and the ring is empty")
    @Outcome(expect = Expect.FORBIDDEN, desc = "lost, taken twice, or stuck behind the hole")
    @State
    public static class GivenBack {
        private final Ring ring = new Ring(3);
        private final Task[] tasks = {StressTasks.task(StressTasks.epoch()), StressTasks.task(StressTasks.epoch())};
        private int taken;

        @Actor
        public void changesItsMind() {
            ring.release(ring.reserve(), new Ring.Hole());
            offer(ring, tasks[0]);
        }

        @Actor
        public void putsAndTakes() {
            offer(ring, tasks[1]);
            taken = ring.poll() == null ? 0 : 1;
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r1 = taken + drained(ring);
            result.r2 = ring.waiting();
        }
    }

    /** A full ring gives up a place of a claimed task, and no other, while a consumer takes what it finds. */
    @JCStressTest
    @Outcome(
            id = "2, 2",
            expect = Expect.ACCEPTABLE,
            desc = "the claimed task went, or was taken, and the others came out")
    @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the consumer held the place, so the ring was full")
    @Outcome(expect = Expect.FORBIDDEN, desc = "an unclaimed task was lost or taken twice, or a place was lost")
    @State
    public static class ClaimedTasksGiveWay {
        private final Ring ring = new Ring(2);
        private final Task claimed = StressTasks.task(StressTasks.epoch());
        private final Task first = StressTasks.task(StressTasks.epoch());
        private final Task second = StressTasks.task(StressTasks.epoch());
        private int put;
        private int taken;

        public ClaimedTasksGiveWay() {
            offer(ring, claimed);
            offer(ring, first);
            claimed.claim();
        }

        @Actor
        public void producer() {
            put = 1 + (offer(ring, second) ? 1 : 0);
        }

        @Actor
        public void consumer() {
            taken = unclaimed(ring.poll());
        }

        @Arbiter
        public void rest(II_Result result) {
            int all = taken;
            for (Task task = ring.poll(); task != null; task = ring.poll()) {
                all += unclaimed(task);
            }
            result.r1 = put;
            // A place that was lost would be one that is never free again.
            result.r2 = ring.waiting() == 0 ? all : -1;
        }

        private int unclaimed(@Nullable Task task) {
            return task == null || task == claimed ? 0 : 1;
        }
    }

    private static int drained(Ring ring) {
        int tasks = 0;
        while (ring.poll() != null) {
            tasks++;
        }
        return tasks;
    }

    private static boolean offer(Ring ring, Task task) {
        long place = ring.reserve();
        if (place == Ring.FULL) {
            return false;
        }
        ring.put(place, task);
        return true;
    }
}
