package io.github.roost.core;

import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
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
 * An orchestrator's workers as a plain executor service, for code that knows only those: every task runs at home with one
 * mapping id. Shutting it down ends the view, not the orchestrator.
 *
 * <p>A task is in {@link #live} from before it is queued until after it has run. An accepting thread adds it and then
 * looks at {@link #state}; a thread that shuts down writes the state and then looks at {@code live}: so either the task
 * is refused or the shutdown waits for it.
 */
final class MappedExecutor extends AbstractExecutorService {
    private enum State {
        RUNNING,
        SHUT_DOWN,
        STOPPED
    }

    private final Orchestrator orchestrator;
    private final MappingId mappingId;
    private final Set<Entry> live = ConcurrentHashMap.newKeySet();
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    private final CountDownLatch terminated = new CountDownLatch(1);
    /** What the orchestrator failed a task of this executor with, once it was closed. */
    private volatile @Nullable Throwable failed;

    MappedExecutor(Orchestrator orchestrator, MappingId mappingId) {
        this.orchestrator = orchestrator;
        this.mappingId = mappingId;
    }

    @Override
    public void execute(Runnable command) {
        if (command == null) {
            throw new NullPointerException("command must not be null");
        }
        Entry entry = new Entry(command);
        if (command instanceof HelpingFutureTask<?> future) {
            future.entry = entry;
        }
        live.add(entry);
        try {
            if (state.get() != State.RUNNING) {
                throw new RejectedExecutionException("the executor of " + mappingId + " is shut down");
            }
            var _ = orchestrator.submit(entry, command, mappingId).whenComplete((none, failure) -> entry.end(failure));
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
        // First all that waits: an interrupted task that ends would let the next begin.
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
        orchestrator.aboutToBlock();
        return terminated.await(timeout, unit);
    }

    /**
     * One task of this executor on its way. It runs once: when its turn comes, or in a thread that would wait for it and runs it
     * instead.
     */
    private final class Entry implements SearchFunction<Runnable, Boolean> {
        private final Runnable command;
        /** Guarded by this, as what follows: whether it was taken out before it began. */
        private boolean removed;

        private boolean begun;
        private @Nullable Thread runner;
        /** Whether the runner had been interrupted before, and whether it was from here. */
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

        void run() {
            if (begin()) {
                try {
                    command.run();
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

        /** The interrupt of this task must not reach the one in whose midst it has run. */
        private synchronized void finish() {
            runner = null;
            if (interruptedHere && !interruptedBefore) {
                Thread.interrupted();
            }
        }

        synchronized boolean remove() {
            if (begun || removed) {
                return false;
            }
            removed = true;
            end();
            return true;
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
            if (failure != null) {
                failCommand(failure);
            }
            end();
        }

        /** Nobody will run it any more: who waits for it must not wait in vain. */
        private void failCommand(Throwable failure) {
            if (command instanceof HelpingFutureTask<?> future) {
                future.fail(failure);
            } else if (command.getClass().getEnclosingClass() == ExecutorCompletionService.class) {
                // Around one of this executor's futures, which ends instead of running what it was made for.
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

    /** A future whose value a worker computes itself before it would wait for it. */
    private static final class HelpingFutureTask<T> extends FutureTask<T> {
        private final MappedExecutor executor;
        /** Its task on its way; null where another future is around it. */
        private volatile MappedExecutor.@Nullable Entry entry;

        HelpingFutureTask(MappedExecutor executor, Callable<T> callable) {
            super(callable);
            this.executor = executor;
        }

        @Override
        public T get() throws InterruptedException, ExecutionException {
            help();
            return super.get();
        }

        @Override
        public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
            // It is not run here: it might take longer.
            executor.orchestrator.aboutToBlock();
            return super.get(timeout, unit);
        }

        /** Runs it, perhaps in the midst of a task that waits for it: the interrupt of a cancellation must not reach that one. */
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

        /** Ends it where nobody will run it any more; without effect once it has ended. */
        void fail(Throwable failure) {
            setException(failure);
        }

        private void help() throws InterruptedException {
            if (!isDone() && executor.orchestrator.calledOnWorker()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                MappedExecutor.Entry own = entry;
                if (own == null) {
                    run();
                } else {
                    own.run();
                }
                executor.orchestrator.aboutToBlock();
            }
        }
    }
}
