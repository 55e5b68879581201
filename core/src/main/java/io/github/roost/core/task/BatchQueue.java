package io.github.roost.core.task;

/**
 * The queries that wait for one mapping id and are served together, so that what they read is read once for all of them.
 * Whoever joins an empty queue has a task queued at the id's home, which takes all that wait by then: an idle system adds no
 * delay, a loaded one serves groups. Deadline, cancellation, overload and failure are those of each query alone. Made by an
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
