package io.github.roost.core.vector;

import io.github.roost.core.Neighbors;

/**
 * What a search found and what it cost.
 *
 * @param neighbors the nearest rows found, nearest first, ties by ascending id
 * @param cost what was compared and expanded for it
 * @param cutShort whether the search ended at its visit limit, before it had looked at all that its effort asks for
 */
public record SearchResult(Neighbors neighbors, SearchCost cost, boolean cutShort) {}
