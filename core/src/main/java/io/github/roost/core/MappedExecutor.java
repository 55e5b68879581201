package io.github.roost.core;

import io.github.roost.core.task.MappingId;
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
        return new HelpingFutureTask<>(orchestrator, callable);
    }

    @Override
    protected <T> RunnableFuture<T> newTaskFor(Runnable runnable, T value) {
        return new HelpingFutureTask<>(orchestrator, () -> {
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
        return terminated.await(timeout, unit);
    }

    /** One task of this executor on its way. */
    private final class Entry implements SearchFunction<Runnable, Boolean> {
        private final Runnable command;
        /** Guarded by this: whether it was taken out before it began, and who runs it. */
        private boolean removed;

        private boolean begun;
        private @Nullable Thread runner;

        Entry(Runnable command) {
            this.command = command;
        }

        @Override
        public Boolean search(Runnable ignored, SearchContext context) {
            if (begin()) {
                try {
                    command.run();
                } finally {
                    finish();
                }
            }
            return true;
        }

        private synchronized boolean begin() {
            if (removed) {
                return false;
            }
            begun = true;
            runner = Thread.currentThread();
            return true;
        }

        private synchronized void finish() {
            runner = null;
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
                runner.interrupt();
            }
        }

        void end(@Nullable Throwable failure) {
            if (failure != null && command instanceof HelpingFutureTask<?> future) {
                future.fail(failure);
            }
            end();
        }

        void end() {
            live.remove(this);
            terminateIfIdle();
        }
    }

    /** A future whose value a worker computes itself before it would wait for it. */
    private static final class HelpingFutureTask<T> extends FutureTask<T> {
        private final Orchestrator orchestrator;

        HelpingFutureTask(Orchestrator orchestrator, Callable<T> callable) {
            super(callable);
            this.orchestrator = orchestrator;
        }

        @Override
        public T get() throws InterruptedException, ExecutionException {
            help();
            return super.get();
        }

        @Override
        public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
            help();
            return super.get(timeout, unit);
        }

        /** Runs it, perhaps in the midst of a task that waits for it: the interrupt of a cancellation must not reach that one. */
        @Override
        public void run() {
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
            if (!isDone() && orchestrator.calledOnWorker()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                run();
            }
        }
    }
}
