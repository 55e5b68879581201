package io.github.roost.vector;

import io.github.roost.core.Registration;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of a table's statistics.
 *
 * @param name the table's name in reports
 * @param index the kind of index, such as {@code hnsw}
 * @param rows number of rows
 * @param dimension components per vector
 * @param metric the metric of the table's distances
 * @param elementType the type of the components that searches read
 * @param parts number of graphs or lists that hold the rows
 * @param bytes the table's off-heap memory in bytes
 * @param recall measured recall of its searches without a filter; null if none has been measured, as for tables of fewer than 1,000 rows
 */
public record TableStats(
        String name,
        String index,
        int rows,
        int dimension,
        Metric metric,
        ElementType elementType,
        int parts,
        long bytes,
        Registration.@Nullable Recall recall) {}
