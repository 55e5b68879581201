package io.github.roost.core;

import io.github.roost.core.policy.GroupRule;
import io.github.roost.core.pool.CallerRunner;
import io.github.roost.core.pool.Request.Kind;
import io.github.roost.core.pool.SharedQueue;
import io.github.roost.core.pool.WorkerPool;
import io.github.roost.core.task.BatchQueue;
import io.github.roost.core.task.CompletionSource;
import io.github.roost.core.task.GroupSearch;
import io.github.roost.core.task.Maintenance;
import io.github.roost.core.task.MappingId;
import io.github.roost.core.task.OrchestratorClosedException;
import io.github.roost.core.task.Part;
import io.github.roost.core.task.Registration;
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.SubmitOptions;
import io.github.roost.core.task.TableUse;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What authors of indexes need of an {@link Orchestrator} beyond {@link Orchestrator#submit}: searches in several slices,
 * queries that are served together, maintenance, and completions of I/O. Thread-safe.
 */
public final class Indexing {
    private static final Logger LOG = LoggerFactory.getLogger(Indexing.class);
    /** How long a table that is closed waits for those who use it. */
    private static final long CLOSE_SECONDS = 30;

    private final Orchestrator orchestrator;
    private final Admission admission;
    private final WorkerPool pool;

    Indexing(Orchestrator orchestrator, Admission admission, WorkerPool pool) {
        this.orchestrator = orchestrator;
        this.admission = admission;
        this.pool = pool;
    }

    /**
     * Runs a search of several slices. Its deadline holds until it has ended: no slice begins after it.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param search the first slice
     * @param query its argument
     * @param mappingId where it belongs
     * @param options how to treat it
     * @return completes with the search's result or exception; once it is done no further slice begins
     * @throws io.github.roost.core.task.RejectedSearchException if the overload policy rejects it
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <Q, R> CompletableFuture<R> submitSteps(
            Search<Q, R> search, Q query, MappingId mappingId, SubmitOptions options) {
        requireNonNull(search, options);
        orchestrator.checkOwned(mappingId);
        return admission.submit(Kind.STEPS, search, query, mappingId, options);
    }

    /**
     * Runs a search that begins with parts. All of them are accepted or none; parts of later forks are never refused.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param fork the parts and what follows them, at least one part
     * @param query what was searched for, passed on to what follows
     * @param options how to treat every part
     * @return completes with the search's result or exception
     * @throws io.github.roost.core.task.RejectedSearchException if not all parts are accepted; then none runs
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <Q, R> CompletableFuture<R> submitFork(Step.Fork<Q, ?, ?, R> fork, Q query, SubmitOptions options) {
        requireNonNull(fork, options);
        check(fork);
        return admission.fork(fork, query, Admission.anyId(fork), options);
    }

    /**
     * {@link #submitFork} for several queries that come at once: all join their batch queues before any queue is served, so that
     * queries that share a queue are served together.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param forks one per query, each with at least one part
     * @param query passed on to what follows each of them
     * @param options how to treat every part
     * @return one per query, complete each by itself; that of a query which is refused has failed with a {@link
     *     io.github.roost.core.task.RejectedSearchException}, or with what says that table or orchestrator were closed meanwhile
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed; then no query is accepted
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator; then no query is
     *     accepted
     */
    public <Q, R> List<CompletableFuture<R>> submitTogether(
            List<? extends Step.Fork<Q, ?, ?, R>> forks, Q query, SubmitOptions options) {
        requireNonNull(forks, options);
        forks.forEach(this::check);
        return admission.forkTogether(forks, query, options);
    }

    private void check(Step.Fork<?, ?, ?, ?> fork) {
        for (Part<?, ?> part : fork.parts()) {
            orchestrator.checkOwned(part.mappingId());
        }
        for (BatchQueue<?, ?> queue : fork.shared()) {
            orchestrator.checkOwned(queue.mappingId());
        }
        if (fork.parts().isEmpty() && fork.shared().isEmpty()) {
            throw new IllegalArgumentException("a fork must have at least one part, got none");
        }
    }

    /**
     * Makes a queue of queries of one mapping id that are served together. It lasts as long as the caller keeps it; an id may have
     * several.
     *
     * @param <Q> the query
     * @param <R> what is found for it
     * @param mappingId where it belongs
     * @param search serves a group
     * @return an empty queue
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <Q, R> BatchQueue<Q, R> batchQueue(MappingId mappingId, GroupSearch<Q, R> search) {
        return batchQueue(mappingId, search, GroupRule.DEFAULT);
    }

    /**
     * {@link #batchQueue(MappingId, GroupSearch)} with groups of other sizes than the usual ones.
     *
     * @param <Q> the query
     * @param <R> what is found for it
     * @param mappingId where it belongs
     * @param search serves a group
     * @param rule how many queries a group has
     * @return an empty queue
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public <Q, R> BatchQueue<Q, R> batchQueue(MappingId mappingId, GroupSearch<Q, R> search, GroupRule rule) {
        Objects.requireNonNull(rule, "rule must not be null");
        orchestrator.checkOwned(mappingId);
        return new SharedQueue<>(mappingId, search, rule);
    }

    /**
     * Submits a query to a batch queue, where it is served together with other queries.
     *
     * @param <Q> the query
     * @param <R> what is found for it
     * @param queue made by this orchestrator
     * @param query what is searched for
     * @param options how to treat it, and it alone
     * @return completes with its answer or failure
     * @throws io.github.roost.core.task.RejectedSearchException if the overload policy rejects it; others that wait in the queue are not concerned
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed
     */
    public <Q, R> CompletableFuture<R> submitShared(BatchQueue<Q, R> queue, Q query, SubmitOptions options) {
        Step.Fork<Q, Q, R, R> fork = new Step.Fork<>(
                List.of(), List.of(queue), query, (same, results, context) -> Step.done(results.getFirst()));
        return submitFork(fork, query, options);
    }

    /**
     * Does work that is no search, step by step, at the home of a mapping id: while searches wait for bytes, on workers that
     * have nothing else to do, and for a small share of the time of busy ones ({@link
     * Orchestrator.Builder#maintenanceShare}). It is never refused but by a closed orchestrator.
     *
     * @param mappingId where it belongs
     * @param work does a step
     * @return completes when there is no more to do, or with what a step threw; cancelling it keeps further steps from
     *     running
     * @throws io.github.roost.core.task.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.task.TableClosedException if a table is closed
     */
    public CompletableFuture<Void> maintenance(MappingId mappingId, Maintenance work) {
        requireNonNull(work, SubmitOptions.BATCH);
        orchestrator.checkOwned(mappingId);
        // The request itself: to cancel what is derived of it would end no step.
        return admission.maintain(new Steps(work)::step, work, mappingId);
    }

    /** A maintenance as a search. */
    private record Steps(Maintenance work) {
        @SuppressWarnings("NullAway") // there is nothing else that a Void could be
        Step<Maintenance, Void> step(Maintenance same, SearchContext context) throws Exception {
            return work.step(context) ? new Step.Yield<>(this::step) : new Step.Done<>(null);
        }
    }

    /**
     * Gives each worker its own source of completions, which it polls between slices and before it sleeps.
     *
     * @param factory makes the source of each worker, in its thread, at its next look
     */
    public void addCompletionSource(CompletionSource.Factory factory) {
        if (factory == null) {
            throw new NullPointerException("factory must not be null");
        }
        pool.addSource(factory);
    }

    /**
     * Closes a table and frees its memory: refuses later calls, waits for accepted tasks and for threads that {@linkplain
     * io.github.roost.core.task.TableUse#hold hold} the table, and then frees the memory, once. Inside a search, which might wait for
     * itself, it returns at once, and the memory is freed when the last user has left. It also returns after 30 seconds, if the
     * table's users do not leave.
     *
     * @param table of this orchestrator
     * @param free frees the memory; runs in the calling thread, or in one of its own
     * @return whether this is the first such call; others wait for it, and free nothing
     */
    public boolean closeTable(Registration table, Runnable free) {
        TableUse use = table.use();
        boolean first = table.end();
        boolean mayWait = mayWait();
        if (!first) {
            awaitClosed(table);
        } else if (mayWait && await(use.unused())) {
            free(use, free);
        } else {
            if (mayWait) {
                LOG.warn(
                        "table {} is still used {} s after it was closed: its memory is freed when that ends",
                        table.name(),
                        CLOSE_SECONDS);
            }
            var _ = use.unused()
                    .thenRun(() -> Thread.ofVirtual().name("roost-free").start(() -> free(use, free)));
        }
        return first;
    }

    /**
     * Waits until the memory of a table is freed that another call closes; for 30 seconds at most. In a search it returns at once.
     *
     * @param table of this orchestrator
     */
    public void awaitClosed(Registration table) {
        if (mayWait()) {
            await(table.use().freed());
        }
    }

    private boolean mayWait() {
        return !orchestrator.calledOnWorker() && !CallerRunner.isRunning();
    }

    private static void free(TableUse use, Runnable free) {
        try {
            free.run();
        } finally {
            use.freed().complete(null);
        }
    }

    /** Whether it came in time. An interrupt does not end the wait: the caller may touch what nobody must read any more. */
    private static boolean await(CompletableFuture<Void> awaited) {
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
        try {
            while (true) {
                try {
                    awaited.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return true;
                } catch (InterruptedException again) {
                    interrupted = true;
                } catch (TimeoutException late) {
                    return false;
                } catch (ExecutionException never) {
                    throw new IllegalStateException(never);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Refuses what is asked of a closed orchestrator, before an index submits several searches.
     *
     * @throws io.github.roost.core.task.OrchestratorClosedException if it is closed
     */
    public void requireOpen() {
        if (admission.isClosing()) {
            throw new OrchestratorClosedException("a search");
        }
    }

    /**
     * A future for results that an index completes itself. Unlike a plain one it may be waited for inside a search: the
     * worker runs what is queued until it is done, instead of blocking what it waits for.
     *
     * @param <T> what it completes with
     * @return incomplete
     */
    public <T> CompletableFuture<T> newFuture() {
        return orchestrator.newFuture();
    }

    /**
     * Does numbered pieces of work on all workers, as batch tasks beside their searches, and returns when all are done:
     * how indexes build themselves. Between two pieces {@link #giveWay()} is called; a piece should take a few microseconds,
     * or call it as often, since searches wait for it.
     *
     * @param name the work's name in reports while it lasts
     * @param pieces how many, at least 0
     * @param piece does one, given its number from 0; called from several threads at once
     * @throws RuntimeException what a piece threw; pieces not yet begun are then left out, and some that other workers
     *     have begun may still run
     */
    public void runBatch(String name, int pieces, IntConsumer piece) {
        orchestrator.runBatch(name, pieces, piece);
    }

    /**
     * Yields to waiting searches: for long batch work, to be called every microsecond or so; a call that finds no waiting search
     * costs some 30 ns. Up to 32 searches run before this returns, and no other batch work. They must not wait for the caller's
     * work. Every 50 us the worker also yields its core to other threads, so that callers need not wait for the end of a time
     * slice before they can submit. A thread that computes keeps the core for its own time slice, so the next such yield comes
     * when the work has run for four times as long as the core was away. Until the worker has slept or found no more batch work
     * its thread also has a long {@linkplain io.github.roost.topology.TimeSlice time slice}, so that threads that wake up take the
     * core at once. Does nothing in a thread that is no worker.
     */
    public void giveWay() {
        orchestrator.giveWay();
    }

    /**
     * Says whether the caller is one of the workers. Code that hands its work to other threads and blocks until they are done
     * must not do so there if they in turn need a worker: all workers might be waiting.
     *
     * @return whether the calling thread is a worker of this orchestrator
     */
    public boolean calledOnWorker() {
        return orchestrator.calledOnWorker();
    }

    /**
     * How many workers of a domain have nothing to run, less the tasks that wait there: whether a task for what is at home there
     * would find a worker that is not busy. None under a {@link io.github.roost.core.policy.SchedulingPolicy} without homes.
     *
     * @param domain id of a cache domain
     * @return at least 0; may be a moment old
     * @throws IllegalArgumentException if there is no such domain
     */
    public int freeWorkers(int domain) {
        return orchestrator.freeWorkers(domain);
    }

    /**
     * Adds one search to the traffic of a mapping id, for a task that does the searches of several: beside what {@link
     * SearchContext#touched} adds to that of the id which the task was submitted under. To be called in the task, once for each.
     *
     * @param mappingId whose traffic it is; nothing is counted if its table is closed
     * @param nodes graph nodes or list entries visited, at least 0
     * @param bytes bytes read for them, at least 0
     * @throws IllegalArgumentException if a number is negative, or the mapping id is of another orchestrator
     */
    public void touched(MappingId mappingId, long nodes, long bytes) {
        orchestrator.touched(mappingId, nodes, bytes);
    }

    /**
     * The traffic of a table's mapping ids as the monitor has summed it, for an index that decides by it what to keep in memory.
     *
     * @param table registered with this orchestrator
     * @return bytes touched since it was registered, one entry per mapping id; a moment old
     * @throws IllegalArgumentException if the table is of another orchestrator
     */
    public long[] trafficBytes(Registration table) {
        return orchestrator.trafficBytes(table);
    }

    /**
     * Completes once every task that was dispatched under epoch {@code epoch} or before has finished and a later mapping
     * is in force; at once if that is so already.
     *
     * @param epoch of a mapping that was published
     * @return completes without a value
     * @throws IllegalArgumentException if no such epoch has been published
     */
    public CompletionStage<Void> retired(long epoch) {
        return orchestrator.retired(epoch);
    }

    /**
     * Publishes the present mapping under a new epoch; completes once every task that was dispatched before has
     * finished, so that memory that those tasks could see may be reclaimed.
     *
     * @return completes without a value
     */
    public CompletionStage<Void> quiesce() {
        return orchestrator.quiesce();
    }

    /**
     * Ends the short window now instead of at its time.
     *
     * @return whether a new mapping was published
     */
    public boolean endWindow() {
        return orchestrator.endWindow();
    }

    private static void requireNonNull(Object search, Object options) {
        if (search == null || options == null) {
            throw new NullPointerException("what to run and options must not be null");
        }
    }
}
