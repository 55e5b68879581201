package io.github.roost.table;

import io.github.roost.core.Neighbors;

/**
 * The nearest neighbours of a query, and a row for each. The receiver owns both.
 *
 * @param neighbors nearest first
 * @param rows row i is that of neighbour i; not present where the table has none, so that a neighbour that has just been added is not lost;
 *     failed ({@link RowBatch#failure}) where it cannot be read
 */
public record Enriched(Neighbors neighbors, RowBatch rows) {}
