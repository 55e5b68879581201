package io.github.roost.core.task;

/**
 * The queries that wait for one mapping id and are served together, so that what they read is read once for a group of them.
 * A query that joins has a task queued at the id's home, unless tasks queued there will serve it: while workers are free each
 * query has its own task, and several workers serve one queue at once; a loaded system serves groups, as large as a latency
 * budget allows. Deadline, cancellation, overload and failure are per query. Made by an orchestrator; thread-safe.
 *
 * @param <Q> the query
 * @param <R> what is found for it
 */
public interface BatchQueue<Q, R> {
    /** {@return the mapping id at whose home its groups are served} */
    MappingId mappingId();

    /** {@return the number of waiting queries; may be a moment old} */
    int waiting();
}
