package io.github.roost.core.task;

/**
 * A search as an index offers it: runs on a worker of the mapping id's home domain. Must be thread-safe: any number of workers
 * may call it at once, each with its own query and context.
 *
 * @param <Q> the query
 * @param <R> the result
 */
@FunctionalInterface
public interface SearchFunction<Q, R> extends Search<Q, R> {
    /**
     * Runs the search on the calling worker. Must report what it touched through
     * {@link SearchContext#touched(long, long)}, or the mapper cannot see this mapping id's traffic.
     *
     * @param query what was submitted
     * @param context of this search; not to be used after it has returned
     * @return what the search's future completes with
     * @throws Exception any failure; it fails this search's future only
     */
    R search(Q query, SearchContext context) throws Exception;

    /** {@return the end of the search, after its only slice} */
    @Override
    @SuppressWarnings(
            "FunctionalInterfaceMethodChanged") // a search of one slice is a search whose first step is its last
    default Step<Q, R> step(Q query, SearchContext context) throws Exception {
        return new Step.Done<>(search(query, context));
    }
}
