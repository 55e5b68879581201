package io.github.roost.index.hnsw;

/**
 * The layout of a table and the reason for it.
 *
 * @param layout the layout
 * @param reason the reason, as text for people
 */
public record LayoutChoice(GraphLayout layout, String reason) {}
