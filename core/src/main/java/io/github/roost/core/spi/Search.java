package io.github.roost.core.spi;

import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;

/**
 * A search that may run in several slices. A slice runs on one worker without waiting; between slices the worker is free, so a
 * search that waits for bytes does not block others. State that outlives a slice must be kept in the query or in the next
 * search object, never on the stack, in a thread local, or per worker.
 *
 * <p>A search of one slice is a {@link SearchFunction}.
 *
 * @param <Q> the query
 * @param <R> the result
 */
@FunctionalInterface
public interface Search<Q, R> {
    /**
     * Runs one slice on the calling worker. Each slice sees the writes of earlier slices, on whichever worker they ran.
     *
     * @param query the submitted query
     * @param context the context of this slice; must not be used after the slice returns
     * @return the next step, not null
     * @throws Exception any failure; it fails this search's future only
     */
    Step<Q, R> step(Q query, SearchContext context) throws Exception;
}
