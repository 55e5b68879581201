package io.github.roost.langchain4j;

import dev.langchain4j.store.embedding.filter.Filter;
import dev.langchain4j.store.embedding.filter.comparison.ContainsString;
import dev.langchain4j.store.embedding.filter.comparison.IsEqualTo;
import dev.langchain4j.store.embedding.filter.comparison.IsGreaterThan;
import dev.langchain4j.store.embedding.filter.comparison.IsGreaterThanOrEqualTo;
import dev.langchain4j.store.embedding.filter.comparison.IsIn;
import dev.langchain4j.store.embedding.filter.comparison.IsLessThan;
import dev.langchain4j.store.embedding.filter.comparison.IsLessThanOrEqualTo;
import dev.langchain4j.store.embedding.filter.comparison.IsNotEqualTo;
import dev.langchain4j.store.embedding.filter.comparison.IsNotIn;
import dev.langchain4j.store.embedding.filter.logical.And;
import dev.langchain4j.store.embedding.filter.logical.Not;
import dev.langchain4j.store.embedding.filter.logical.Or;
import io.github.roost.documents.DocumentFilter;
import io.github.roost.documents.DocumentFilter.Compare;
import io.github.roost.documents.DocumentFilter.Comparison;
import io.github.roost.documents.DocumentFilter.In;
import java.util.List;

/** LangChain4j's filters as Roost's. Stateless. */
final class Filters {
    private Filters() {}

    /** How deep conditions may be nested. */
    private static final int MAX_DEPTH = 1_000;

    static DocumentFilter documentFilter(Filter filter) {
        return documentFilter(filter, 0);
    }

    private static DocumentFilter documentFilter(Filter filter, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("a filter may be nested " + MAX_DEPTH + " deep, this one is deeper");
        }
        return switch (filter) {
            case IsEqualTo is -> new Compare(is.key(), Comparison.EQUAL, is.comparisonValue());
            case IsNotEqualTo is ->
                new DocumentFilter.Not(new Compare(is.key(), Comparison.EQUAL, is.comparisonValue()));
            case IsGreaterThan is -> new Compare(is.key(), Comparison.GREATER, is.comparisonValue());
            case IsGreaterThanOrEqualTo is -> new Compare(is.key(), Comparison.GREATER_OR_EQUAL, is.comparisonValue());
            case IsLessThan is -> new Compare(is.key(), Comparison.LESS, is.comparisonValue());
            case IsLessThanOrEqualTo is -> new Compare(is.key(), Comparison.LESS_OR_EQUAL, is.comparisonValue());
            case IsIn is -> new In(is.key(), List.copyOf(is.comparisonValues()));
            case IsNotIn is -> new DocumentFilter.Not(new In(is.key(), List.copyOf(is.comparisonValues())));
            case ContainsString is -> new DocumentFilter.Contains(is.key(), is.comparisonValue());
            case And both ->
                new DocumentFilter.And(documentFilter(both.left(), depth + 1), documentFilter(both.right(), depth + 1));
            case Or either ->
                new DocumentFilter.Or(
                        documentFilter(either.left(), depth + 1), documentFilter(either.right(), depth + 1));
            case Not not -> new DocumentFilter.Not(documentFilter(not.expression(), depth + 1));
            default ->
                throw new IllegalArgumentException("a filter of the class "
                        + filter.getClass().getName() + " is not known; expected one of LangChain4j's own");
        };
    }
}
