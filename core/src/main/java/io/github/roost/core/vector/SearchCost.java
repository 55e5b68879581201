package io.github.roost.core.vector;

/**
 * What a search cost.
 *
 * @param visited vectors, or codes of vectors, that were compared with the query; at least 0
 * @param expanded graph nodes whose neighbours were read, or lists that were scanned; at least 0
 */
public record SearchCost(long visited, long expanded) {
    /** Of a search that compared nothing. */
    public static final SearchCost NONE = new SearchCost(0, 0);

    /**
     * The cost of two searches together.
     *
     * @param other the other one
     * @return the sums
     */
    public SearchCost plus(SearchCost other) {
        return new SearchCost(visited + other.visited, expanded + other.expanded);
    }
}
