package io.github.roost.core.vector;

import io.github.roost.core.Metric;

/**
 * A table at one moment.
 *
 * @param name as it shows in reports
 * @param index what kind of index it is, such as {@code hnsw}
 * @param rows number of rows
 * @param dimension components per vector
 * @param metric how distances are measured
 * @param elementType what searches read of a component
 * @param parts graphs, or lists, that the rows lie in
 * @param bytes memory of the table outside the Java heap, in bytes
 */
public record TableStats(
        String name,
        String index,
        int rows,
        int dimension,
        Metric metric,
        ElementType elementType,
        int parts,
        long bytes) {}
