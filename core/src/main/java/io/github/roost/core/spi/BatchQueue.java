package io.github.roost.core.spi;

import io.github.roost.core.MappingId;

/**
 * The queries that wait for one mapping id and are served in groups, so that the data is read once per group. A query that
 * joins has a task queued at the id's home, unless the tasks already queued there suffice. While workers are free, each query
 * has its own task, and several workers serve one queue at once; under load, groups are as large as a latency budget allows.
 * Deadline, cancellation, overload and failure are per query. Created by an orchestrator; thread-safe.
 *
 * @param <Q> the query
 * @param <R> the result of a query
 */
public interface BatchQueue<Q, R> {
    /** {@return the mapping id at whose home its groups are served} */
    MappingId mappingId();

    /** {@return the number of waiting queries; may be a moment old} */
    int waiting();
}
