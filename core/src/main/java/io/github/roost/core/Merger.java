package io.github.roost.core;

import java.util.List;

/**
 * Merges the results of a query's parts into the result of the query. Runs once per query, in the thread that finished the last
 * part; a merger that several queries share must be thread-safe.
 *
 * @param <P> the result of a part
 * @param <R> the result of the query
 */
@FunctionalInterface
public interface Merger<P, R> {
    /**
     * Merges the results of one query.
     *
     * @param results the parts' results, in the order in which the parts were given
     * @return the result of the query
     * @throws Exception any failure; it fails the query's future only
     */
    R merge(List<P> results) throws Exception;
}
