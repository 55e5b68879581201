package io.github.roost.core.task;

/**
 * One part of a query that is answered in several places.
 *
 * @param searchFunction what to run
 * @param query its argument
 * @param mappingId where it belongs
 * @param <Q> the query
 * @param <P> the result of the part
 */
public record Part<Q, P>(SearchFunction<? super Q, ? extends P> searchFunction, Q query, MappingId mappingId) {}
