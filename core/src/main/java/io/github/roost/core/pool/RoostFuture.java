package io.github.roost.core.pool;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future on which a worker may wait without holding up what it waits for: before it blocks, a worker runs the awaited
 * task itself if no other has begun it. So a nested submit never deadlocks, even on one worker.
 */
public class RoostFuture<T> extends CompletableFuture<T> {
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new RoostFuture<>();
    }

    @Override
    public T join() {
        boolean interrupted = false;
        try {
            // An interrupt does not end this wait. If it ended the help alone, what is waited for might never be run.
            do {
                interrupted |= !isDone() && calledOnWorker() && Thread.interrupted();
                helpIfWorker(Task.NO_DEADLINE);
            } while (!isDone() && calledOnWorker() && Thread.currentThread().isInterrupted());
            return super.join();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean calledOnWorker() {
        return Thread.currentThread() instanceof WorkerThread;
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        requireUninterrupted();
        helpIfWorker(Task.NO_DEADLINE);
        return super.get();
    }

    /**
     * {@inheritDoc}
     *
     * <p>On a worker the timeout ends the waiting, not the help: a task that the worker has begun to run for this future runs to
     * its end or its next yield first.
     */
    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + Math.max(0, unit.toNanos(timeout));
        requireUninterrupted();
        helpIfWorker(end);
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** An interrupt of who waits ends the wait; it must not reach the task that would be run meanwhile. */
    private void requireUninterrupted() throws InterruptedException {
        if (!isDone() && calledOnWorker() && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void helpIfWorker(long untilNanos) {
        if (!isDone() && Thread.currentThread() instanceof WorkerThread thread) {
            help(thread.runner(), untilNanos);
        }
    }

    /** Brings this future forward on a worker that is about to wait for it. Derived futures: runs what is queued. */
    void help(Runner runner, long untilNanos) {
        runner.helpUntilDone(this, untilNanos);
    }
}
