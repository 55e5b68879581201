package io.github.roost.core.pool;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * What scheduling depends on besides the queues: time, chance, and the sleep of workers' threads. The test that compares the
 * pool with the simulator, decision by decision, has one of its own.
 */
interface Platform {
    /** The machine that this runs on. */
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
        public void unpark(Worker worker, Thread thread) {
            LockSupport.unpark(thread);
        }
    };

    /** The time that backlogs are measured by. */
    long nanoTime();

    /** A number from 0 to a bound exclusive, of at least 1. */
    int random(int bound);

    /** Has the calling thread of a worker sleep. */
    void park(Worker worker);

    /** As {@link #park}, for so long at most. */
    void parkNanos(Worker worker, long nanos);

    /** Ends the sleep of a worker's thread, or the next one. */
    void unpark(Worker worker, Thread thread);
}
