package io.github.roost.index.hnsw;

/**
 * A neighbour found in one of several tables.
 *
 * @param table index of the table in the list that was searched
 * @param id the row's id in that table
 * @param distance its distance to the query; smaller is nearer
 */
public record TableHit(int table, long id, float distance) {}
