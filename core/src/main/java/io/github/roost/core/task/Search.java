package io.github.roost.core.task;

/**
 * A search that may run in several slices: pieces that each run on one worker without waiting. Between two slices the worker
 * is free, so a search that waits for bytes holds up no other. Such a search keeps its state from slice to slice in its own
 * objects, the query or the next search: never on the stack, in the thread, or in the worker.
 *
 * <p>A search of one slice is a {@link SearchFunction}.
 *
 * @param <Q> the query
 * @param <R> the result
 */
@FunctionalInterface
public interface Search<Q, R> {
    /**
     * Runs one slice on the calling worker. Each slice sees all that earlier ones wrote, whatever worker runs it.
     *
     * @param query what was submitted
     * @param context of this slice; not to be used after it has returned
     * @return what comes next
     * @throws Exception any failure; it fails this search's future only
     */
    Step<Q, R> step(Q query, SearchContext context) throws Exception;
}
