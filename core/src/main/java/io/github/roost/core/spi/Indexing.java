package io.github.roost.core.spi;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.Registration;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SubmitOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations of an {@link Orchestrator} for indexes: searches in several slices, batch queues, maintenance, completions of I/O, and the closing
 * of tables. Thread-safe; every orchestrator has one, and only orchestrators implement it.
 */
public interface Indexing {
    /**
     * Runs a search of several slices. No slice begins after the deadline.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param search runs the first slice
     * @param query the argument of the first slice
     * @param mappingId the id at whose home it runs
     * @param options its priority and deadline
     * @return completes with the search's result or exception; no slice begins after it is done
     * @throws io.github.roost.core.RejectedSearchException if the overload policy rejects it
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.TableClosedException if the table is closed
     */
    <Q, R> CompletableFuture<R> submitSteps(Search<Q, R> search, Q query, MappingId mappingId, SubmitOptions options);

    /**
     * Runs a search that begins with a fork. Either all its parts are accepted or none; parts of later forks are never refused.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param fork the parts, at least one, and their continuation
     * @param query the query, passed to the continuation
     * @param options priority and deadline of every part
     * @return completes with the search's result or exception
     * @throws io.github.roost.core.RejectedSearchException if not all parts are accepted; then none runs
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator
     * @throws io.github.roost.core.TableClosedException if the table is closed
     */
    <Q, R> CompletableFuture<R> submitFork(Step.Fork<Q, ?, ?, R> fork, Q query, SubmitOptions options);

    /**
     * Submits several forks like {@link #submitFork}. All join their batch queues before any queue is served, so that queries in the same queue are
     * served together.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param forks one fork per query, each with at least one part
     * @param query passed to the continuation of each fork
     * @param options priority and deadline of every part
     * @return one future per fork, each completes by itself. The future of a refused query has failed with
     *     {@link io.github.roost.core.RejectedSearchException}, or with {@code TableClosedException} or {@code OrchestratorClosedException} if
     *     the table or orchestrator was closed meanwhile
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed; then no query is accepted
     * @throws IllegalArgumentException if there are no parts, or a mapping id is of another orchestrator; then no query is
     *     accepted
     */
    <Q, R> List<CompletableFuture<R>> submitTogether(
            List<? extends Step.Fork<Q, ?, ?, R>> forks, Q query, SubmitOptions options);

    /**
     * Creates a batch queue: queries of one mapping id that are served together, in groups by the orchestrator's
     * {@linkplain Orchestrator.Builder#groupRule rule}. It needs no closing. An id may have several queues.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param mappingId the id at whose home it runs
     * @param search serves a group of queries
     * @return an empty queue
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.TableClosedException if the table is closed
     */
    <Q, R> BatchQueue<Q, R> batchQueue(MappingId mappingId, GroupSearch<Q, R> search);

    /**
     * Creates a batch queue like {@link #batchQueue(MappingId, GroupSearch)}, with a rule for the size of groups.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param mappingId the id at whose home it runs
     * @param search serves a group of queries
     * @param rule decides the number of queries in a group
     * @return an empty queue
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.TableClosedException if the table is closed
     */
    <Q, R> BatchQueue<Q, R> batchQueue(MappingId mappingId, GroupSearch<Q, R> search, GroupRule rule);

    /**
     * Submits a query to a batch queue.
     *
     * @param <Q> the type of the query
     * @param <R> the type of the result
     * @param queue a batch queue of this orchestrator
     * @param query the query
     * @param options priority and deadline of this query
     * @return completes with the query's result or exception
     * @throws io.github.roost.core.RejectedSearchException if the overload policy rejects it; other queries in the queue are not affected
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    <Q, R> CompletableFuture<R> submitShared(BatchQueue<Q, R> queue, Q query, SubmitOptions options);

    /**
     * Runs maintenance, step by step, at the home of a mapping id: in the stalls of searches, on workers that have nothing else to do, and for a
     * small share of the time of busy workers ({@link Orchestrator.Builder#maintenanceShare}). It is refused only if the orchestrator or the table
     * is closed.
     *
     * @param mappingId the id at whose home it runs
     * @param work runs one step
     * @return completes after the last step, or fails with the exception of a step; if it is cancelled, no further step runs
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     * @throws IllegalArgumentException if the mapping id is of another orchestrator
     * @throws io.github.roost.core.TableClosedException if the table is closed
     */
    CompletableFuture<Void> maintenance(MappingId mappingId, Maintenance work);

    /**
     * Gives each worker a source of completions, which it polls between slices and before it sleeps.
     *
     * @param factory creates the source of each worker, in the worker's thread, before its next poll
     * @return its {@code close} removes the sources; until then the orchestrator keeps them, even after its own close
     */
    CompletionSource.Handle addCompletionSource(CompletionSource.Factory factory);

    /**
     * Sets the rule by which workers fill their stalls with maintenance, for all workers of the orchestrator. Each worker applies it from its
     * next stall on, and keeps its instance until another factory is set.
     *
     * @param factory opens the rule of each worker; null for the default: every stall is filled, in steps of
     *     {@value Maintenance#STEP_NANOS} ns, and the worker polls for the bytes between two steps
     */
    void stallRule(StallRule.@Nullable Factory factory);

    /** {@return the factory of the stall rule in force; null for the default} */
    StallRule.@Nullable Factory stallRule();

    /**
     * Closes a table and frees its memory: refuses later calls, waits for accepted tasks and for threads that
     * {@linkplain TableUse#hold hold} the table, and then frees the memory, once. Inside a search, which might wait for
     * itself, and after 30 seconds it returns without waiting further; the memory is then freed when the last user has left.
     *
     * @param table a table of this orchestrator
     * @param free frees the memory; runs in the calling thread, or in a virtual thread
     * @return whether this is the first call for the table; later calls wait for it and free nothing
     */
    boolean closeTable(Registration table, Runnable free);

    /**
     * Waits until another call of {@link #closeTable} has freed a table's memory; for 30 seconds at most. Inside a search it returns at once.
     *
     * @param table a table of this orchestrator
     */
    void awaitClosed(Registration table);

    /** {@return how the recall of searches is measured} */
    RecallRule recallRule();

    /** {@return the number of registered tables, batch work included} */
    int tables();

    /**
     * Checks that the orchestrator is open, before an index begins work that needs it.
     *
     * @param what the work, for the message
     * @throws io.github.roost.core.OrchestratorClosedException if it is closed
     */
    void requireOpen(String what);

    /**
     * Returns a future for results that an index completes itself. Unlike a plain future it may be waited for inside a search: the worker is
     * given to others at once.
     *
     * @param <T> the type of the result
     * @return an incomplete future
     */
    <T> CompletableFuture<T> newFuture();

    /**
     * Runs numbered pieces of work on all workers as batch tasks, and returns when all are done; indexes are built this way.
     * {@link #yieldToSearches()} is called between two pieces. A piece should take a few microseconds, or call {@code yieldToSearches} that
     * often, since searches wait for it.
     *
     * @param name the name of the work in reports while it runs
     * @param pieces the number of pieces, at least 0
     * @param piece runs the piece of the given number, counted from 0; called by several threads at once
     * @throws RuntimeException the exception that a piece threw; the remaining pieces are then skipped, but pieces that other workers have begun
     *     may still run
     */
    void runBatch(String name, int pieces, IntConsumer piece);

    /**
     * Registers batch work: one mapping id per worker, not placed by traffic and not counted against the limit on the ids of tables. For work that
     * an index submits itself, with {@link SubmitOptions#BATCH}.
     *
     * @param name the name of the work in reports
     * @return the mapping ids; closing it ends the work
     * @throws io.github.roost.core.OrchestratorClosedException if the orchestrator is closed
     */
    Registration registerBatchWork(String name);

    /**
     * Yields to waiting searches. Long batch work should call this about every microsecond; a call that finds no waiting search costs about 30 ns.
     * Up to 32 searches run before this returns, but no other batch work; these searches must not wait for the caller's work. Every 50 us the
     * worker also yields its core to other threads, so that callers need not wait for the end of a time slice before they can submit. A CPU-bound
     * thread then keeps the core for its own time slice, so the next such yield comes when the work has run for four times as long as the core was
     * away. Until the worker sleeps or finds no more batch work, its thread also has a long
     * {@linkplain io.github.roost.topology.system.TimeSlice time slice}, so that threads that wake up take the core at once. Does nothing in a thread that
     * is not a worker.
     */
    void yieldToSearches();

    /**
     * Returns whether the caller is one of the workers. A worker must not hand work to other threads and block until it is done if those threads in
     * turn need a worker: all workers might be waiting.
     *
     * @return whether the calling thread is a worker of this orchestrator
     */
    boolean calledOnWorker();

    /**
     * Returns the number of idle workers of a domain minus the tasks that wait there: if positive, a task dispatched there finds an idle worker.
     * Always 0 under a {@link io.github.roost.core.policy.SchedulingPolicy} without homes.
     *
     * @param domain the id of a cache domain
     * @return the number, at least 0; may be slightly out of date
     * @throws IllegalArgumentException if there is no such domain
     */
    int freeWorkers(int domain);

    /**
     * Adds one search to the traffic of a mapping id, for a task that runs searches of several ids. {@link SearchContext#touched} adds to the
     * traffic of the id that the task was submitted under; call this in the task, once per search of another id.
     *
     * @param mappingId the id that the search belongs to; nothing is counted if its table is closed
     * @param nodes number of graph nodes or list entries visited, at least 0
     * @param bytes number of bytes read for them, at least 0
     * @throws IllegalArgumentException if a number is negative, or the mapping id is of another orchestrator
     */
    void touched(MappingId mappingId, long nodes, long bytes);

    /**
     * Returns the traffic of a table's mapping ids, for an index that uses it to decide which data to keep in memory.
     *
     * @param table a table of this orchestrator
     * @return bytes touched since the table was registered, one entry per mapping id; may be slightly out of date
     * @throws IllegalArgumentException if the table is of another orchestrator
     */
    long[] trafficBytes(Registration table);

    /**
     * Returns a stage that completes when every task dispatched under {@code epoch} or earlier has finished and a later mapping is in force.
     *
     * @param epoch the epoch of a published mapping
     * @return a stage without a value
     * @throws IllegalArgumentException if no such epoch has been published
     */
    CompletionStage<Void> retired(long epoch);

    /**
     * Publishes the present mapping under a new epoch. The stage completes when every task dispatched before has finished; then memory that only
     * these tasks could see may be reclaimed.
     *
     * @return a stage without a value
     */
    CompletionStage<Void> quiesce();

    /**
     * Ends the short window now.
     *
     * @return whether a new mapping was published
     */
    boolean endWindow();

    /**
     * How the recall of searches is measured.
     *
     * @param share see {@link Orchestrator.Builder#recallShare}
     * @param alarm see {@link Orchestrator.Builder#recallAlarm}
     */
    record RecallRule(double share, double alarm) {}

    /**
     * The queries that wait for one mapping id and are served in groups, so that the data is read once per group. A query that
     * joins has a task queued at the id's home, unless the tasks already queued there suffice. While workers are free, each query
     * has its own task, and several workers serve one queue at once; under load, groups are as large as a latency budget allows.
     * Deadline, cancellation, overload and failure are per query. Created by an orchestrator; thread-safe.
     *
     * @param <Q> the query
     * @param <R> the result of a query
     */
    interface BatchQueue<Q, R> {
        /** {@return the mapping id at whose home its groups are served} */
        MappingId mappingId();

        /** {@return the number of waiting queries; may be a moment old} */
        int waiting();
    }

    /**
     * Background work in steps of a few microseconds: a build, a merge, a compaction, the pruning of a graph. Steps run on workers
     * that have nothing else to do, also while their searches wait for bytes. To avoid starvation, maintenance also takes a small
     * share of the time of busy workers.
     */
    @FunctionalInterface
    interface Maintenance {
        /** The time budget of a step, in nanoseconds, unless a {@link StallRule} allows another. */
        long STEP_NANOS = 5_000;

        /**
         * Runs one step. Steps of the same maintenance never run concurrently; each sees the writes of earlier steps.
         *
         * @param context the context of this step
         * @return whether there is more to do
         * @throws Exception any failure; it ends the maintenance and fails its future
         */
        boolean step(SearchContext context) throws Exception;
    }

    /**
     * Decides how one worker fills its stalls with maintenance. A stall is the time in which a worker has only searches that wait for bytes.
     * Whatever the rule, maintenance also gets its share of the time of busy workers, except in a stall that {@link #isEmpty}, and workers
     * without searches run it at once. Clock readings are those of {@link System#nanoTime}.
     *
     * <p>Called only in the worker's thread. Methods must take well below a microsecond, and must not throw.
     */
    interface StallRule {
        /**
         * Called at the begin of a stall: the worker's last search has parked.
         *
         * @param now the clock
         * @param underWay number of reads in flight, at least 0
         */
        void begins(long now, int underWay);

        /**
         * Called when a parked search of this worker resumes, also outside a stall.
         *
         * @param now the clock
         */
        void ends(long now);

        /**
         * Called when the worker runs other work than its parked searches or maintenance, or becomes idle, also outside a stall: the time from
         * one stall to the next is then no measure of searches.
         *
         * @param now the clock; may be 0 outside a stall that {@link #isMeasured}
         */
        void isOver(long now);

        /**
         * Called after a step of maintenance, also outside a stall.
         *
         * @param from the clock at its begin
         * @param to the clock at its end
         */
        void ran(long from, long to);

        /**
         * Returns for how long maintenance may run now. Called in a stall that {@link #isMeasured}, after a poll that found no bytes.
         *
         * @param now the clock
         * @return nanoseconds; 0 if it must not run now
         */
        long mayRun(long now);

        /** {@return whether the worker is in a stall that is measured; then it does not yield its core to other threads} */
        boolean isMeasured();

        /** {@return whether the worker is in a stall that is left empty; then not even the share of maintenance runs} */
        boolean isEmpty();

        /** Opens the rule of each worker. */
        @FunctionalInterface
        interface Factory {
            /**
             * Opens a worker's rule; called in the worker's own thread, at a stall, and once more if another thread replaces it. Must not throw.
             *
             * @param worker index of the worker, from 0
             * @return the rule, for this thread alone
             */
            StallRule open(int worker);
        }
    }

    /**
     * Serves the queries of a {@link Indexing.BatchQueue} in groups. It may run in several slices and park until the bytes that the group
     * needs have arrived; it must not fork. Must be thread-safe: several workers may call it at once, each for its own group.
     *
     * @param <Q> the query
     * @param <R> the result of a query
     */
    @FunctionalInterface
    interface GroupSearch<Q, R> {
        /**
         * Runs one slice for a group.
         *
         * @param group the queries, and the place for their answers; a query without an answer at the end completes with null
         * @param context the context of this slice; traffic is counted once for the group
         * @return {@link Step.Done}, {@link Step.Yield} or {@link Step.Park}
         * @throws Exception any failure; it fails the queries of the group that have no answer yet
         */
        Step<Group<Q, R>, Boolean> step(Group<Q, R> group, SearchContext context) throws Exception;

        /**
         * Queries that are served together. Used only by the running slice. Answers are delivered after the group's last slice, so
         * the continuation of one answer never delays another answer of the group.
         *
         * @param <Q> the query
         * @param <R> the result of a query
         */
        interface Group<Q, R> {
            /** {@return the number of queries, at least 1} */
            int size();

            /**
             * One of the queries.
             *
             * @param index from 0 to {@link #size()} exclusive
             * @return the query
             */
            Q query(int index);

            /**
             * Whether a query has been cancelled or is complete, or its deadline has passed.
             *
             * @param index from 0 to {@link #size()} exclusive
             * @return whether to skip the query
             */
            boolean expired(int index);

            /**
             * Answers a query. The first answer or failure of a query counts.
             *
             * @param index from 0 to {@link #size()} exclusive
             * @param result the result of the query
             */
            void answer(int index, R result);

            /**
             * Fails one query; the rest of the group is unaffected.
             *
             * @param index from 0 to {@link #size()} exclusive
             * @param failure the cause, not null
             */
            void fail(int index, Throwable failure);
        }
    }
}
