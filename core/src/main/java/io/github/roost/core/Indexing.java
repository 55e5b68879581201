package io.github.roost.core;

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
import io.github.roost.core.task.Search;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.Step;
import io.github.roost.core.task.SubmitOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What authors of indexes need of an {@link Orchestrator} beyond {@link Orchestrator#submit}: searches in several slices,
 * queries that are served together, maintenance, and completions of I/O. Thread-safe.
 */
public final class Indexing {
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
     * {@link #submitFork} for several queries that come at once: all join their batch queues before any of these is served, so
     * that those which share a queue are served together.
     *
     * @param <Q> what is searched for
     * @param <R> what is found
     * @param forks one per query, each with at least one part
     * @param query passed on to what follows each of them
     * @param options how to treat every part
     * @return one per query, complete each by itself; that of a query which is refused has failed with a {@link
     *     io.github.roost.core.task.RejectedSearchException}
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator; then no query is
     *     accepted
     * @throws io.github.roost.core.task.TableClosedException if a table is closed; then no query is accepted
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
     * Makes the queue of those queries of a mapping id that are served together. It lasts as long as the caller keeps it; an id
     * may have several.
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
        orchestrator.checkOwned(mappingId);
        return new SharedQueue<>(mappingId, search);
    }

    /**
     * Has a query served together with those that wait in a queue.
     *
     * @param <Q> the query
     * @param <R> what is found for it
     * @param queue made by this orchestrator
     * @param query what is searched for
     * @param options how to treat it, and it alone
     * @return completes with its answer, or what it failed with
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
     * Has every worker look at a source of completions of its own, between slices and before it sleeps.
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
     * Refuses what is asked of a closed orchestrator, before an index submits several searches.
     *
     * @throws io.github.roost.core.task.OrchestratorClosedException if it is closed
     */
    public void requireOpen() {
        if (admission.isClosing()) {
            throw new OrchestratorClosedException("a search");
        }
    }

    private static void requireNonNull(Object search, Object options) {
        if (search == null || options == null) {
            throw new NullPointerException("what to run and options must not be null");
        }
    }
}
