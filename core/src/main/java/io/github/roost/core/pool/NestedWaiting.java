package io.github.roost.core.pool;

import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waiting inside a search: the thread runs tasks that the awaited future may depend on, nested in the waiting slice. A slice that may
 * block its thread is marked, so that {@link Watch} looks for blocked threads. Used only by the runner's thread.
 */
final class NestedWaiting {
    /** Maximum nesting depth at which a waiting search runs queued tasks that are not its own children. */
    private static final int HELP_DEPTH = 8;
    /** Maximum nesting depth at which a waiting search runs resumed tasks. */
    private static final int RESUMED_DEPTH = 2 * HELP_DEPTH;
    /** Sleep of a waiting worker between looks for a task to help with. */
    private static final long HELP_PAUSE_NANOS = 50_000;

    private final WorkerPool pool;
    private final TaskInHand hand;
    private final TaskChoice choice;
    private final Slices slices;
    private final Progress progress;

    NestedWaiting(WorkerPool pool, TaskInHand hand, TaskChoice choice, Slices slices, Progress progress) {
        this.pool = pool;
        this.hand = hand;
        this.choice = choice;
        this.slices = slices;
        this.progress = progress;
    }

    /** Called when the running slice has submitted a task, for which it may wait later. */
    void submitted(Task task) {
        Frame frame = progress.current();
        if (frame != null) {
            frame.submitted(task);
            mayBlockIn(frame);
        }
    }

    /** Called when the running slice is about to wait in a way that Roost does not see. */
    void aboutToBlock() {
        Frame frame = progress.current();
        if (frame != null) {
            mayBlockIn(frame);
        }
    }

    private void mayBlockIn(Frame frame) {
        frame.setMayBlock();
        pool.watch().arm();
    }

    /** Runs a task that this thread is about to wait for. */
    void runIfUnclaimed(Task task) {
        StackRoom.require();
        if (task.claim()) {
            runClaimed(task);
        } else {
            aboutToBlock();
        }
    }

    /**
     * Runs tasks that a future may depend on until it is done, the time is up, or the thread is interrupted: first the children of
     * the waiting search, newest first; then resumed tasks; then, up to a maximum depth, tasks queued in the domain.
     */
    void helpUntilDone(Future<?> future, long untilNanos) {
        StackRoom.require();
        Frame waiting = progress.current();
        if (waiting != null) {
            mayBlockIn(waiting);
        }
        boolean onlyInteractive = progress.onlyInteractive();
        try {
            help(future, untilNanos, waiting, onlyInteractive);
        } finally {
            progress.onlyInteractive(onlyInteractive);
        }
    }

    private void help(Future<?> future, long untilNanos, @Nullable Frame waiting, boolean onlyInteractive) {
        while (!future.isDone() && !Thread.currentThread().isInterrupted() && !isPast(untilNanos)) {
            Task child = waiting == null ? null : waiting.child();
            if (child != null) {
                if (child.claim()) {
                    runClaimed(child);
                }
            } else if (takes(waiting)) {
                slices.runNested();
            } else {
                pause(future, waiting);
            }
            progress.onlyInteractive(onlyInteractive);
        }
    }

    private static boolean isPast(long untilNanos) {
        return untilNanos != Task.NO_DEADLINE && System.nanoTime() - untilNanos >= 0;
    }

    private void runClaimed(Task task) {
        hand.take(task, true);
        slices.runNested();
    }

    /** Takes a task in hand that is not a child of the waiting search; whether there was one. */
    private boolean takes(@Nullable Frame waiting) {
        if (waiting != null && waiting.depth() >= HELP_DEPTH) {
            // Only here do completions arrive and deadlines pass, which resume the tasks that this one waits for.
            choice.lookAround();
            // At the last depth the thread only waits; Watch relieves it if tasks wait behind it.
            return waiting.depth() < RESUMED_DEPTH && choice.takeResumed();
        }
        if (choice.takeResumed()) {
            return true;
        }
        if (waiting != null && !waiting.isBatch()) {
            // An interactive search must not run batch work nested in it and wait for its end.
            progress.onlyInteractive(true);
        }
        return choice.nextNested();
    }

    /** Waits a moment before the thread looks around again; {@link Watch} need not relieve it for completions that it then sees. */
    private void pause(Object blocker, @Nullable Frame waiting) {
        progress.looksAgain(waiting == null || waiting.depth() < HELP_DEPTH);
        LockSupport.parkNanos(blocker, HELP_PAUSE_NANOS);
        progress.looksAgain(false);
    }
}
