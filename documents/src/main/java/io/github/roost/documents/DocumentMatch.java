package io.github.roost.documents;

/**
 * A document that a search has found.
 *
 * @param document the document, with its vector as it was put
 * @param distance the distance from the query, in the metric of the store
 */
public record DocumentMatch(Document document, float distance) {}
