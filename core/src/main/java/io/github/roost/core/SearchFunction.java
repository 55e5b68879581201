package io.github.roost.core;

import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;

/**
 * A search of one slice. Usually runs on a worker of the mapping id's home domain. Must be thread-safe: any number of workers
 * may call it at once, each with its own query and context.
 *
 * @param <Q> the query
 * @param <R> the result
 */
@FunctionalInterface
public interface SearchFunction<Q, R> extends Search<Q, R> {
    /**
     * Runs the search in the calling thread. Must report its traffic through {@link SearchContext#touched(long, long)};
     * otherwise the mapper cannot see the traffic of this mapping id.
     *
     * @param query the submitted query
     * @param context the context of this search; must not be used after the search returns
     * @return the result of the search's future
     * @throws Exception any failure; it fails this search's future only
     */
    R search(Q query, SearchContext context) throws Exception;

    /** {@return {@link Step.Done}, after the only slice} */
    @Override
    @SuppressWarnings(
            "FunctionalInterfaceMethodChanged") // a search of one slice is a search whose first step is its last
    default Step<Q, R> step(Q query, SearchContext context) throws Exception {
        return new Step.Done<>(search(query, context));
    }
}
