package io.github.roost.core;

/**
 * A search as an index offers it: runs on a worker of the mapping id's home domain.
 *
 * @param <Q> the query
 * @param <R> the result
 */
@FunctionalInterface
public interface SearchFunction<Q, R> {
    /**
     * Runs the search on the calling worker. Must report what it touched through
     * {@link SearchContext#touched(long, long)}, or the mapper cannot see this mapping id's traffic.
     *
     * @throws Exception any failure; it fails this search's future only
     */
    R search(Q query, SearchContext context) throws Exception;
}
