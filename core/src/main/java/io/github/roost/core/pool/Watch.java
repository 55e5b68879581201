package io.github.roost.core.pool;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watcher thread with three duties. It sees which tasks have waited for long, and wakes workers of other domains for them by {@link
 * io.github.roost.core.dispatch.Crossings}. It ends queued and parked searches whose deadline has passed or whose result is not
 * needed. And for a worker whose thread is blocked in a search by a wait that Roost does not see (a plain future, a latch) while
 * tasks wait behind it, it starts a fresh thread; the blocked thread ends when its search does.
 *
 * <p>The thread sleeps until it is armed by code that finds something to watch. It disarms itself first and then looks once more,
 * so nothing is missed. Arming it again is a system call of a worker, which searches that submit searches would pay each time; so if it is
 * armed again at once, it stays armed for some looks that find nothing. No user code runs in this thread.
 */
final class Watch implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);

    /** Interval of looks for blocked workers: a worker is relieved at the second look that finds it blocked in the same slice. */
    private static final long BLOCKED_LOOK_NANOS = 1_000_000;
    /** Minimum interval of looks for overdue searches. */
    private static final long OVERDUE_LOOK_NANOS = 2_000_000;
    /** Looks for overdue searches take at most one in so many of the thread's time. */
    private static final int OVERDUE_SHARE = 10;
    /** Looks that find nothing before it disarms itself, if it was armed again soon after the last time. */
    private static final int EMPTY_LOOKS = 16;
    /** Maximum number of blocked threads; the same as the spare threads of {@link java.util.concurrent.ForkJoinPool}. */
    static final int MAX_BLOCKED = 256;

    private static final long NOT_BLOCKED = -1;
    private static final long STACK_BYTES = 256 << 10;

    private final WorkerPool pool;
    private final CrossDomainHelp help;
    private final Overdue overdue;
    private final Thread thread;
    /** Per worker, the slice in which it was found blocked at the last look. */
    private final long[] blockedIn;

    private long nextBlockedLook;
    private long nextOverdueLook;
    /** When the thread last found nothing to watch and disarmed itself. */
    private long disarmedAt;
    /** Looks that may find nothing before it disarms itself. */
    private int emptyLooks;

    /** When the next look is planned. */
    private volatile long due;

    private volatile boolean armed;
    /** Whether a search that waits may have a deadline, or need not wait. */
    private volatile boolean overduePossible;

    private volatile boolean warned;

    Watch(WorkerPool pool, CrossDomainHelp help, Overdue overdue) {
        this.pool = pool;
        this.help = help;
        this.overdue = overdue;
        this.blockedIn = new long[pool.workers()];
        this.nextBlockedLook = pool.platform().nanoTime();
        this.nextOverdueLook = nextBlockedLook;
        this.disarmedAt = nextBlockedLook - BLOCKED_LOOK_NANOS;
        Arrays.fill(blockedIn, NOT_BLOCKED);
        this.thread = Thread.ofPlatform()
                .daemon()
                .name("roost-watch")
                .stackSize(STACK_BYTES)
                .inheritInheritableThreadLocals(false)
                .unstarted(this);
        thread.setContextClassLoader(Watch.class.getClassLoader());
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

    /** Makes the thread look at once, unless it soon does. Any thread. */
    void lookSoon() {
        if (!armed) {
            arm();
        } else if (due - pool.platform().nanoTime() > help.rule().shortLookNanos()) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes the thread look for overdue searches. Any thread. */
    void armForOverdue() {
        if (!overduePossible) {
            overduePossible = true;
        }
        arm();
    }

    void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    public void run() {
        try {
            while (!pool.isTerminated()) {
                if (armed) {
                    watch();
                } else {
                    rest();
                }
            }
        } catch (Throwable unexpected) {
            pool.breaks(unexpected);
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
            due = pool.platform().nanoTime() + wait;
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
        long now = pool.platform().nanoTime();
        long next = Long.MAX_VALUE;
        if (help.isGated() && pool.layout().domains() > 1) {
            help.update(now);
            help.rule().helpers(pool.idle()::wakeFirst);
            next = help.rule().nextLook();
        }
        if (now - nextBlockedLook >= 0) {
            nextBlockedLook = now + BLOCKED_LOOK_NANOS;
            lookForBlocked();
        }
        if (pool.mayBlock()) {
            next = Math.min(next, BLOCKED_LOOK_NANOS);
        }
        return Math.min(next, endOverdue(now));
    }

    /** Ends overdue searches if that is due; nanoseconds to the next time, {@link Long#MAX_VALUE} for never. */
    private long endOverdue(long now) {
        if (!overduePossible) {
            return Long.MAX_VALUE;
        }
        if (now - nextOverdueLook >= 0) {
            overduePossible = false;
            if (overdue.end()) {
                overduePossible = true;
            }
            long took = pool.platform().nanoTime() - now;
            nextOverdueLook = now + Math.max(OVERDUE_LOOK_NANOS, OVERDUE_SHARE * took);
        }
        return overduePossible ? nextOverdueLook - now : Long.MAX_VALUE;
    }

    private void lookForBlocked() {
        for (int i = 0; i < blockedIn.length; i++) {
            Worker worker = pool.worker(i);
            Runner runner = worker.runner();
            long slice = NOT_BLOCKED;
            if (runner != null && pool.dependsOn(worker) && runner.isBlocked()) {
                slice = runner.slices().begun();
                if (slice == blockedIn[i]) {
                    relieve(worker, runner);
                    slice = NOT_BLOCKED;
                }
            }
            blockedIn[i] = slice;
        }
    }

    private void relieve(Worker worker, Runner runner) {
        if (!pool.relieve(worker, runner) && !warned) {
            warned = true;
            LOG.warn(
                    "{} searches block their workers; no further worker is replaced until one of them continues",
                    MAX_BLOCKED);
        }
    }
}
