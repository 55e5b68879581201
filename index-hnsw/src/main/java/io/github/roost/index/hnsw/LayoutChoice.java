package io.github.roost.index.hnsw;

/**
 * The layout of a table and the reason for it.
 *
 * @param layout the layout
 * @param reason the reason, as text for people
 */
public record GraphLayout.Choice(GraphLayout layout, String reason) {}
