package io.github.roost.core.task;

/**
 * The queries that wait for one mapping id and are served together, so that what they read is read once for a group of them.
 * Whoever joins has a task queued at the id's home unless those that are queued there come to it: while workers are free each
 * query has its own, and several workers serve one queue at once; a loaded system serves groups, as large as a latency budget
 * allows. Deadline, cancellation, overload and failure are those of each query alone. Made by an
 * orchestrator; thread-safe.
 *
 * @param <Q> the query
 * @param <R> what is found for it
 */
public interface BatchQueue<Q, R> {
    /** {@return whose home its groups are served at} */
    MappingId mappingId();

    /** {@return queries that wait to be taken; may be a moment old} */
    int waiting();
}
