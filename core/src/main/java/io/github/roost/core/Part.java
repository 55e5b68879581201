package io.github.roost.core;

import io.github.roost.core.spi.Search;
import io.github.roost.core.spi.Step;

/**
 * One part of a query that is split over several mapping ids.
 *
 * @param searchFunction the search of this part
 * @param query the argument of the search
 * @param mappingId the mapping id at whose home the part runs
 * @param <Q> the query
 * @param <P> the result of the part
 */
public record Part<Q, P>(SearchFunction<? super Q, ? extends P> searchFunction, Q query, MappingId mappingId) {
    /**
     * A part that runs in several slices.
     *
     * @param search the search of this part
     * @param query the argument of the search
     * @param mappingId the mapping id at whose home the part runs
     * @param <Q> the query
     * @param <P> the result of the part
     * @return the part
     */
    public static <Q, P> Part<Q, P> inSteps(Search<Q, P> search, Q query, MappingId mappingId) {
        return new Part<>(new SteppedFunction<>(search), query, mappingId);
    }

    /** Adapts a search of several slices to the type of a one-slice search. */
    private record SteppedFunction<Q, P>(Search<Q, P> search) implements SearchFunction<Q, P> {
        @Override
        public Step<Q, P> step(Q query, SearchContext context) throws Exception {
            return search.step(query, context);
        }

        @Override
        public P search(Q query, SearchContext context) {
            throw new IllegalStateException("a search of several slices cannot run in one");
        }
    }
}
