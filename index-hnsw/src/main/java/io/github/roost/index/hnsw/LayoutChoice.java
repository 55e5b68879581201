package io.github.roost.index.hnsw;

/**
 * What the searches of a table read, and why.
 *
 * @param layout what was chosen
 * @param reason for people to read
 */
public record LayoutChoice(GraphLayout layout, String reason) {}
