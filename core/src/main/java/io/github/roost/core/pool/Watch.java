package io.github.roost.core.pool;

import io.github.roost.core.dispatch.WakePolicy;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that looks while something may need the clock, and sleeps otherwise: at queues that stand, for which it wakes
 * workers of other domains as {@link WakePolicy} says; and at workers whose thread is blocked in a search that waits for what
 * it has submitted, in a way that Roost does not see (a plain future, a latch), while tasks wait behind it. Such a worker
 * gets a fresh thread, so that nothing hangs; the blocked one ends when its search does.
 *
 * <p>Who finds something to watch arms it. It disarms itself first and then looks once more, so nothing is missed.
 */
final class Watch implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);
    /** Time between two looks at a blocked worker: it is relieved at the second. */
    private static final long BLOCKED_LOOK_NANOS = 1_000_000;
    /** Blocked threads at once, at most; {@link java.util.concurrent.ForkJoinPool} has as many spare ones. */
    static final int MAX_BLOCKED = 256;

    private static final long NOT_BLOCKED = -1;
    /** No user code runs here. */
    private static final long STACK_BYTES = 256 << 10;

    private final WorkerPool pool;
    private final WakePolicy wakes;
    private final Thread thread;
    /** Slice in which each worker was found blocked at the last look. */
    private final long[] blockedIn;

    private long nextBlockedLook;
    private volatile boolean armed;
    private volatile boolean warned;

    Watch(WorkerPool pool, WakePolicy wakes) {
        this.pool = pool;
        this.wakes = wakes;
        this.blockedIn = new long[pool.workers()];
        this.nextBlockedLook = pool.platform().nanoTime();
        Arrays.fill(blockedIn, NOT_BLOCKED);
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("roost-watch")
                .stackSize(STACK_BYTES)
                .inheritInheritableThreadLocals(false)
                .unstarted(this);
    }

    void start() {
        thread.start();
    }

    Thread thread() {
        return thread;
    }

    /** Has the thread look. Any thread; nearly nothing where it is up. */
    void arm() {
        if (!armed) {
            armed = true;
            LockSupport.unpark(thread);
        }
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        while (!pool.isTerminated()) {
            try {
                if (!armed) {
                    LockSupport.park(this);
                } else {
                    watch();
                }
            } catch (Throwable unexpected) {
                // For want of memory: what is watched is still there at the next look.
                LockSupport.parkNanos(this, BLOCKED_LOOK_NANOS);
            }
        }
    }

    private void watch() {
        long wait = watchOnce();
        if (wait != Long.MAX_VALUE) {
            LockSupport.parkNanos(this, wait);
        }
    }

    boolean isArmed() {
        return armed;
    }

    /** Does what is due; nanoseconds to the next time, {@link Long#MAX_VALUE} where it is no longer armed. */
    long watchOnce() {
        long wait = look();
        if (wait == Long.MAX_VALUE) {
            armed = false;
            wait = look();
            if (wait != Long.MAX_VALUE) {
                armed = true;
            }
        }
        return wait;
    }

    /** Does what is due; nanoseconds to the next look, {@link Long#MAX_VALUE} for none. */
    private long look() {
        pool.catchUp();
        long now = pool.platform().nanoTime();
        pool.refreshBacklogs(now);
        wakes.helpers(now, pool::wakeOneOf);
        long next = wakes.nextLook(now);
        if (now - nextBlockedLook >= 0) {
            nextBlockedLook = now + BLOCKED_LOOK_NANOS;
            lookForBlocked();
        }
        return pool.mayBlock() ? Math.min(next, BLOCKED_LOOK_NANOS) : next;
    }

    private void lookForBlocked() {
        for (int i = 0; i < blockedIn.length; i++) {
            Worker worker = pool.worker(i);
            Runner runner = worker.runner();
            long slice = NOT_BLOCKED;
            if (runner != null && worker.waiting() > 0 && runner.isBlocked()) {
                slice = runner.slices();
                if (slice == blockedIn[i]) {
                    relieve(worker, runner);
                    slice = NOT_BLOCKED;
                }
            }
            blockedIn[i] = slice;
        }
    }

    private void relieve(Worker worker, Runner runner) {
        if (pool.relieve(worker, runner)) {
            return;
        }
        if (!warned) {
            warned = true;
            LOG.warn(
                    "{} searches are blocked in what they wait for; no more workers are relieved of such until one goes on",
                    MAX_BLOCKED);
        }
    }
}
