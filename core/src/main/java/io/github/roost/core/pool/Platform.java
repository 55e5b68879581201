package io.github.roost.core.pool;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The environment of scheduling: the clock, random numbers, and the sleep of worker threads. The test that compares the pool
 * with the simulator, decision by decision, has its own implementation.
 */
interface Platform {
    /** The real clock, random numbers and thread sleep. */
    Platform SYSTEM = new Platform() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public int random(int bound) {
            return ThreadLocalRandom.current().nextInt(bound);
        }

        @Override
        public void park(Worker worker) {
            LockSupport.park(worker);
        }

        @Override
        public void parkNanos(Worker worker, long nanos) {
            LockSupport.parkNanos(worker, nanos);
        }

        @Override
        public void deliver(Runnable answer) {
            Thread.ofVirtual().name("roost-answer").start(answer);
        }

        @Override
        public void unpark(Worker worker, @Nullable Thread thread) {
            LockSupport.unpark(thread);
        }
    };

    /** The clock for the age of queues, in nanoseconds. */
    long nanoTime();

    /** A random number from 0 to {@code bound} exclusive; {@code bound} is at least 1. */
    int random(int bound);

    /** Puts the calling thread, which runs {@code worker}, to sleep. */
    void park(Worker worker);

    /** As {@link #park}, for at most {@code nanos} nanoseconds. */
    void parkNanos(Worker worker, long nanos);

    /** Runs the delivery of an answer, in which callbacks may block, in another thread. */
    void deliver(Runnable answer);

    /** Wakes a worker's thread; if it is not asleep, its next sleep returns at once. */
    void unpark(Worker worker, @Nullable Thread thread);
}
