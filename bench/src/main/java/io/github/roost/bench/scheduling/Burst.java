package io.github.roost.bench.scheduling;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.infra.Blackhole;

/**
 * A burst of {@value #TASKS} tasks that one thread submits together and waits for. The tasks count down themselves, so
 * that the measurement excludes each pool's way of waiting for a future.
 */
final class Burst implements Runnable {
    /** Small enough that 8 submitters never fill the rings of two workers. */
    static final int TASKS = 128;

    private final Thread submitter = Thread.currentThread();
    private final long tokens;
    private final AtomicInteger left = new AtomicInteger(TASKS);

    private Burst(long tokens) {
        this.tokens = tokens;
    }

    /**
     * Submits a burst and returns when all its tasks are done.
     *
     * @param tokens CPU time per task in JMH's tokens
     */
    static void through(Contender.TaskPool pool, long tokens) {
        Burst burst = new Burst(tokens);
        for (int i = 0; i < TASKS; i++) {
            var _ = pool.submit(burst);
        }
        while (burst.left.get() > 0) {
            LockSupport.park(burst);
        }
    }

    @Override
    public void run() {
        if (tokens > 0) {
            Blackhole.consumeCPU(tokens);
        }
        if (left.decrementAndGet() == 0) {
            LockSupport.unpark(submitter);
        }
    }
}
