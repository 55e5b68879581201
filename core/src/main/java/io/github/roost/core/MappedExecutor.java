package io.github.roost.core;

import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.task.Request.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * An executor service view of an orchestrator's workers, for code that takes an executor: every task runs at the home of one mapping id.
 * Shutting it down ends the view, not the orchestrator.
 *
 * <p>A task is in {@link #live} from before it is queued until after it has run. An accepting thread adds it and then reads {@link #state};
 * a thread that shuts down writes the state and then reads {@code live}. So either the task is refused or the shutdown waits for it.
 */
final class MappedExecutor extends AbstractExecutorService {
    private enum State {
        RUNNING,
        SHUT_DOWN,
        STOPPED
    }

    private final Admission admission;
    private final MappingId mappingId;
    private final Set<Entry> live = ConcurrentHashMap.newKeySet();
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    private final CountDownLatch terminated = new CountDownLatch(1);
    /** The exception with which the closed orchestrator failed a task of this executor. */
    private volatile @Nullable Throwable failed;

    MappedExecutor(Admission admission, MappingId mappingId) {
        this.admission = admission;
        this.mappingId = mappingId;
    }

    @Override
    public void execute(Runnable command) {
        if (command == null) {
            throw new NullPointerException("command must not be null");
        }
        Entry entry = new Entry(command);
        live.add(entry);
        try {
            if (state.get() != State.RUNNING) {
                throw new RejectedExecutionException("the executor of " + mappingId + " is shut down");
            }
            admission.requireOwned(mappingId);
            CompletableFuture<Boolean> queued =
                    admission.submit(Kind.ONE_SLICE, entry, command, mappingId, SubmitOptions.DEFAULT);
            var _ = queued.whenComplete((none, failure) -> entry.end(failure));
            entry.queuedAs(queued);
            if (command instanceof HelpingFutureTask<?> future) {
                future.queuedAs(entry);
            }
        } catch (Throwable e) {
            entry.end();
            throw e;
        }
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Callable<T> callable) {
        return new HelpingFutureTask<>(this, callable);
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Runnable runnable, T value) {
        return new HelpingFutureTask<>(this, () -> {
            runnable.run();
            return value;
        });
    }

    @Override
    public void shutdown() {
        state.compareAndSet(State.RUNNING, State.SHUT_DOWN);
        terminateIfIdle();
    }

    @Override
    public List<Runnable> shutdownNow() {
        state.set(State.STOPPED);
        List<Runnable> neverRun = new ArrayList<>();
        // Remove all waiting tasks before any interrupt: when an interrupted task ends, the next would begin.
        for (Entry entry : live) {
            if (entry.remove()) {
                neverRun.add(entry.command);
            }
        }
        live.forEach(Entry::interrupt);
        terminateIfIdle();
        return neverRun;
    }

    private void terminateIfIdle() {
        if (state.get() != State.RUNNING && live.isEmpty()) {
            terminated.countDown();
        }
    }

    @Override
    public boolean isShutdown() {
        return state.get() != State.RUNNING;
    }

    @Override
    public boolean isTerminated() {
        return terminated.getCount() == 0;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        WorkerPool.aboutToBlock();
        return terminated.await(timeout, unit);
    }

    /**
     * One queued task of this executor.
     */
    private final class Entry implements SearchFunction<Runnable, Boolean> {
        private final Runnable command;
        /** Whether it was removed before it began. This and the fields below are guarded by this. */
        private boolean removed;

        private boolean begun;
        private @Nullable Thread runner;
        /** Its place in a worker's queue; null until it is known. */
        private volatile @Nullable Future<?> queued;
        /** Whether the runner was interrupted before the task began, and whether {@link #interrupt} interrupted it. */
        private boolean interruptedBefore;

        private boolean interruptedHere;

        Entry(Runnable command) {
            this.command = command;
        }

        @Override
        public Boolean search(Runnable ignored, SearchContext context) {
            run();
            return true;
        }

        private void run() {
            if (begin()) {
                try {
                    command.run();
                } catch (Throwable uncaught) {
                    // As by other executors; a future's own run() throws nothing.
                    Thread thread = Thread.currentThread();
                    thread.getUncaughtExceptionHandler().uncaughtException(thread, uncaught);
                } finally {
                    finish();
                }
            }
        }

        private synchronized boolean begin() {
            if (begun || removed) {
                return false;
            }
            begun = true;
            runner = Thread.currentThread();
            interruptedBefore = runner.isInterrupted();
            return true;
        }

        /** Clears this task's interrupt: it must not reach the task that this one ran inside. */
        private synchronized void finish() {
            runner = null;
            if (interruptedHere && !interruptedBefore) {
                Thread.interrupted();
            }
        }

        /** Takes the command out of the queue; false if it has begun or was removed. */
        boolean remove() {
            synchronized (this) {
                if (begun || removed) {
                    return false;
                }
                removed = true;
            }
            end();
            Future<?> place = queued;
            if (place != null) {
                place.cancel(false);
            }
            return true;
        }

        void queuedAs(Future<?> place) {
            queued = place;
        }

        synchronized void interrupt() {
            if (runner != null) {
                interruptedHere = true;
                runner.interrupt();
            }
        }

        void end(@Nullable Throwable failure) {
            if (failure instanceof OrchestratorClosedException) {
                failed = failure;
            }
            if (failure != null && !isRemoved()) {
                failCommand(failure);
            }
            end();
        }

        private synchronized boolean isRemoved() {
            return removed;
        }

        /** The task will never run, so ends its future: threads may be waiting for it. */
        private void failCommand(Throwable failure) {
            if (command instanceof HelpingFutureTask<?> future) {
                future.fail(failure);
            } else if (command instanceof CompletableFuture.AsynchronousCompletionTask
                    || command.getClass().getEnclosingClass() == ExecutorCompletionService.class) {
                // Only its own run() ends its future. That of an ExecutorCompletionService wraps one of this executor's
                // futures, which fails instead of running its callable; that of a CompletableFuture runs in the thread
                // that closes.
                command.run();
            } else if (command instanceof Future<?> future) {
                future.cancel(false);
            }
        }

        void end() {
            live.remove(this);
            terminateIfIdle();
        }
    }

    /** A future whose task a worker runs itself before it waits for it, if the waiting task has submitted it. */
    private static final class HelpingFutureTask<T> extends FutureTask<T> {
        private final MappedExecutor executor;
        /** Its queued task; null before it is queued, and if another future wraps it. */
        private volatile MappedExecutor.@Nullable Entry entry;

        HelpingFutureTask(MappedExecutor executor, Callable<T> callable) {
            super(callable);
            this.executor = executor;
        }

        @Override
        public T get() throws InterruptedException, ExecutionException {
            beforeWait();
            return super.get();
        }

        @Override
        public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
            // Its task does not run here: that might take longer than the timeout.
            WorkerPool.aboutToBlock();
            return super.get(timeout, unit);
        }

        /** Runs the task, perhaps inside a task that waits for it: the interrupt of a cancellation must not reach the outer task. */
        @Override
        public void run() {
            Throwable failure = executor.failed;
            if (failure != null) {
                setException(failure);
                return;
            }
            boolean interrupted = Thread.currentThread().isInterrupted();
            super.run();
            if (isCancelled() && !interrupted) {
                Thread.interrupted();
            }
        }

        void queuedAs(MappedExecutor.Entry one) {
            entry = one;
            if (isCancelled()) {
                one.remove();
            }
        }

        /** A cancelled task that has not begun gives its place in the queue back. */
        @Override
        protected void done() {
            MappedExecutor.Entry one = entry;
            if (one != null && isCancelled()) {
                one.remove();
            }
        }

        /** Ends a future that will never run; no effect if it has ended. */
        void fail(Throwable failure) {
            setException(failure);
        }

        private void beforeWait() throws InterruptedException {
            if (!isDone()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                WorkerPool.beforeWait(this);
            }
        }
    }
}
