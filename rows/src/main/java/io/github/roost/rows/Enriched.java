package io.github.roost.rows;

import io.github.roost.vector.Neighbors;

/**
 * The nearest neighbours of a query, and a row per neighbour. The receiver owns both.
 *
 * @param neighbors nearest first
 * @param rows row i belongs to neighbour i; it is absent if the table has no row for it, for example if the neighbour was just added, and failed
 *     ({@link RowBatch#failure}) if it cannot be read
 */
public record Enriched(Neighbors neighbors, RowBatch rows) {}
