package io.github.roost.index.remote;

import io.github.roost.core.vector.SearchResult;

/**
 * What a search found, and whether it could look everywhere.
 *
 * @param result the nearest rows of the partitions that were searched
 * @param partitions how many the search was to visit
 * @param missing how many of them could not be read, or not be asked what has changed; over 0 only where the table {@linkplain
 *     RemoteTable.Builder#partialAnswers gives partial answers}
 */
public record RemoteAnswer(SearchResult result, int partitions, int missing) {
    /** {@return whether partitions are missing} */
    public boolean isPartial() {
        return missing > 0;
    }
}
