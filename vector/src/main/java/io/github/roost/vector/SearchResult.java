package io.github.roost.vector;


/**
 * The result of a search and its cost.
 *
 * @param neighbors the nearest rows found, nearest first, ties by ascending id
 * @param cost the vectors compared and the nodes or lists expanded
 * @param cutShort whether the search stopped at its visit limit, before it had used up its effort
 */
public record SearchResult(Neighbors neighbors, SearchCost cost, boolean cutShort) {}
