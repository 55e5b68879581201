package io.github.roost.rows;

import io.github.roost.vector.SearchResult;

/**
 * The result of a search, and a row per id of it. The receiver owns both.
 *
 * @param result nearest first
 * @param rows row i belongs to id i; it is absent if the table has no row for it, for example if the id was just added, and failed
 *     ({@link RowBatch#failure}) if it cannot be read
 */
public record Enriched(SearchResult result, RowBatch rows) {}
