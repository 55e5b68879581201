package io.github.roost.vector;

/**
 * The cost of a search. What an index does not have is 0.
 *
 * @param visited number of vectors or codes compared with the query, at least 0
 * @param expanded number of graph nodes whose neighbors were read, or of lists scanned, at least 0
 * @param pagesRead number of pages of 4 KiB read from disk, at least 0
 * @param damagedPages number of pages that could not be read or had a wrong checksum, at least 0: the result lacks their rows
 * @param partitions number of partitions of remote memory that the search visited, at least 0
 * @param missingPartitions number of these that could not be read, or not be checked for changes: the result may lack their rows
 */
public record SearchCost(
        long visited, long expanded, long pagesRead, long damagedPages, int partitions, int missingPartitions) {
    /** The cost of a search that compared nothing. */
    public static final SearchCost NONE = new SearchCost(0, 0);

    /**
     * The cost of a search in memory.
     *
     * @param visited number of vectors or codes compared with the query, at least 0
     * @param expanded number of graph nodes whose neighbors were read, or of lists scanned, at least 0
     */
    public SearchCost(long visited, long expanded) {
        this(visited, expanded, 0, 0, 0, 0);
    }

    /**
     * Returns the sum of two costs.
     *
     * @param other the cost to add
     * @return the sum
     */
    public SearchCost plus(SearchCost other) {
        return new SearchCost(
                visited + other.visited,
                expanded + other.expanded,
                pagesRead + other.pagesRead,
                damagedPages + other.damagedPages,
                partitions + other.partitions,
                missingPartitions + other.missingPartitions);
    }
}
