package io.github.roost.index.remote;

import io.github.roost.vector.SearchResult;

/**
 * The result of a search, with the number of partitions it could not read.
 *
 * @param result the nearest rows of the partitions that were searched
 * @param partitions number of partitions that the search visits
 * @param missing number of partitions that could not be read, or not be checked for changes; over 0 only if the table
 *     {@linkplain RemoteTable.Builder#partialAnswers gives partial answers}
 */
public record RemoteAnswer(SearchResult result, int partitions, int missing) {
    /** {@return whether partitions are missing} */
    public boolean isPartial() {
        return missing > 0;
    }
}
