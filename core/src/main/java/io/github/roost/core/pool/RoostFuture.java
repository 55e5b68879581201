package io.github.roost.core.pool;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that a worker can wait for without blocking the awaited task: before a worker blocks, it runs that task itself if no
 * other worker has begun it. So a nested submit never deadlocks, even with one worker. Thread-safe.
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
            // An interrupt does not end join(). If it ended only the help, the awaited task might never run.
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
     * <p>On a worker the timeout does not interrupt a task that the worker runs while it waits: the current slice of that task
     * ends first.
     */
    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + Math.max(0, unit.toNanos(timeout));
        requireUninterrupted();
        helpIfWorker(end);
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** Ends the wait if the waiting thread is interrupted; the interrupt must not reach a task that runs during the wait. */
    private void requireUninterrupted() throws InterruptedException {
        if (!isDone() && calledOnWorker() && Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private void helpIfWorker(long untilNanos) {
        if (!isDone() && Thread.currentThread() instanceof WorkerThread thread) {
            help(thread.runner().waiting(), untilNanos);
        }
    }

    /** Advances this future on a worker that is about to wait for it; for derived futures by running queued tasks. */
    void help(NestedWaiting waiting, long untilNanos) {
        waiting.helpUntilDone(this, untilNanos);
    }
}
