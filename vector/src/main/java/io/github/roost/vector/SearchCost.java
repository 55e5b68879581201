package io.github.roost.vector;

/**
 * The cost of a search.
 *
 * @param visited number of vectors or codes compared with the query, at least 0
 * @param expanded number of graph nodes whose neighbours were read, or of lists scanned, at least 0
 */
public record SearchCost(long visited, long expanded) {
    /** The cost of a search that compared nothing. */
    public static final SearchCost NONE = new SearchCost(0, 0);

    /**
     * Returns the sum of two costs.
     *
     * @param other the cost to add
     * @return the sum
     */
    public SearchCost plus(SearchCost other) {
        return new SearchCost(visited + other.visited, expanded + other.expanded);
    }
}
