package io.github.roost.core.pool;

import io.github.roost.core.dispatch.WakePolicy;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watcher thread with two duties. For backlogs, it wakes workers of other domains by {@link WakePolicy}. For a worker whose
 * thread is blocked in a search by a wait that Roost does not see (a plain future, a latch) while tasks wait behind it, it
 * starts a fresh thread, so that nothing hangs; the blocked thread ends when its search does.
 *
 * <p>The thread sleeps until it is armed by code that finds something to watch. It disarms itself first and then looks once more,
 * so nothing is missed. Arming it again is a system call of a worker, which searches that submit searches would pay each time; so if it is
 * armed again at once, it stays armed for some looks that find nothing.
 */
final class Watch implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);
    /** Interval of looks for blocked workers: a worker is relieved at the second look that finds it blocked in the same slice. */
    private static final long BLOCKED_LOOK_NANOS = 1_000_000;
    /** Looks that find nothing before it disarms itself, if it was armed again soon after the last time. */
    private static final int EMPTY_LOOKS = 16;
    /** Maximum number of blocked threads; the same as the spare threads of {@link java.util.concurrent.ForkJoinPool}. */
    static final int MAX_BLOCKED = 256;

    private static final long NOT_BLOCKED = -1;
    /** No user code runs here. */
    private static final long STACK_BYTES = 256 << 10;

    private final WorkerPool pool;
    private final CrossDomainHelp help;
    private final Wakeups wakeups;
    private final TaskCompletion completion;
    private final Thread thread;
    /** Per worker, the slice in which it was found blocked at the last look. */
    private final long[] blockedIn;

    private long nextBlockedLook;
    /** When the thread last found nothing to watch and disarmed itself. */
    private long disarmedAt;
    /** Looks that may find nothing before it disarms itself. */
    private int emptyLooks;

    private volatile boolean armed;
    private volatile boolean warned;

    Watch(WorkerPool pool, CrossDomainHelp help, Wakeups wakeups, TaskCompletion completion) {
        this.pool = pool;
        this.help = help;
        this.wakeups = wakeups;
        this.completion = completion;
        this.blockedIn = new long[pool.workers()];
        this.nextBlockedLook = pool.platform().nanoTime();
        this.disarmedAt = nextBlockedLook - BLOCKED_LOOK_NANOS;
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

    /** Makes the thread look. Any thread; costs almost nothing if it is armed already. */
    void arm() {
        if (!armed) {
            armed = true;
            LockSupport.unpark(thread);
        }
    }

    /** As {@link #arm}, for what must be looked at before the next look that is planned. */
    void lookSoon() {
        armed = true;
        LockSupport.unpark(thread);
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        while (!pool.isTerminated()) {
            try {
                if (armed) {
                    watch();
                } else {
                    rest();
                }
            } catch (Throwable unexpected) {
                // Memory is out: try again at the next look, which sees the same state.
                LockSupport.parkNanos(this, BLOCKED_LOOK_NANOS);
            }
        }
    }

    private void rest() {
        LockSupport.park(this);
        boolean soon = pool.platform().nanoTime() - disarmedAt < BLOCKED_LOOK_NANOS;
        emptyLooks = soon ? EMPTY_LOOKS : 0;
    }

    private void watch() {
        long wait = emptyLooks > 0 ? look() : watchOnce();
        if (wait == Long.MAX_VALUE && emptyLooks > 0) {
            emptyLooks--;
            wait = BLOCKED_LOOK_NANOS;
        }
        if (wait == Long.MAX_VALUE) {
            disarmedAt = pool.platform().nanoTime();
        } else {
            LockSupport.parkNanos(this, wait);
        }
    }

    boolean isArmed() {
        return armed;
    }

    /** Looks, and disarms if there is nothing to watch; nanoseconds to the next look, {@link Long#MAX_VALUE} if disarmed. */
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

    /** Runs all duties that are due; nanoseconds to the next look, {@link Long#MAX_VALUE} for none. */
    private long look() {
        completion.catchUp();
        wakeups.catchUp();
        long now = pool.platform().nanoTime();
        help.refreshBacklogs(now);
        help.policy().helpers(now, wakeups::wakeOneOf);
        long next = help.policy().nextLook(now);
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
            if (runner != null && pool.dependsOn(worker, runner) && runner.isBlocked()) {
                slice = runner.progress().slices();
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
                    "{} searches block their workers; no further worker is replaced until one of them continues",
                    MAX_BLOCKED);
        }
    }
}
