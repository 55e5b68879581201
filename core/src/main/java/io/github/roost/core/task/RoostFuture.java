package io.github.roost.core.task;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that a search can wait for without blocking its worker: before it blocks, it runs the tasks that it has itself submitted and that have
 * not begun, newest first; then the worker gets a fresh thread. So a nested submit never deadlocks, even with one worker. Thread-safe.
 *
 * @param <T> the result
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
            // An interrupt does not end join(). If it ended the runs of children, the awaited task might never run.
            while (!isDone() && Thread.currentThread() instanceof WaitingThread thread) {
                interrupted |= Thread.interrupted();
                thread.beforeWait(this);
                if (!thread.isInterrupted()) {
                    break;
                }
            }
            return super.join();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        beforeWait();
        return super.get();
    }

    /**
     * {@inheritDoc}
     *
     * <p>On a worker the timeout does not interrupt a task that the worker runs while it waits: the current slice of that task
     * ends first.
     */
    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + Math.max(0, unit.toNanos(timeout));
        if (timeout > 0) {
            beforeWait();
        }
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** Ends the wait if the waiting thread is interrupted; the interrupt must not reach a task that runs before the wait. */
    private void beforeWait() throws InterruptedException {
        if (!isDone() && Thread.currentThread() instanceof WaitingThread thread) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            thread.beforeWait(this);
        }
    }
}
