package io.github.roost.index.hnsw.graph;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The rows from which a graph is built. Maximum inner product search is reduced to nearest neighbors in L2 by one more dimension,
 * which gives all rows the same norm and is zero in queries (Bachrach et al., RecSys 2014): inner product is not a distance, and
 * graphs built on it lose most of their neighbors. Searches of the graph compute the inner product, which ranks in the same order.
 * Under other metrics rows are unchanged. Immutable.
 *
 * @param dimension components per row
 * @param maxSquared the largest squared norm of the rows; unused if rows are unchanged
 */
record NormedRows(GraphRows rows, int dimension, double maxSquared) {
    /** @param norms the norms of the rows under inner product; null under other metrics */
    static NormedRows of(GraphRows rows, @Nullable RowNorms norms) {
        return norms == null
                ? new NormedRows(rows, rows.dimension(), 0)
                : new NormedRows(rows, rows.dimension() + 1, norms.maxSquared());
    }

    float[] of(int row) {
        float[] values = rows.vector(row);
        if (dimension == values.length) {
            return values;
        }
        float[] longer = Arrays.copyOf(values, dimension);
        longer[values.length] = (float) Math.sqrt(maxSquared - GraphSpace.squaredNorm(values));
        return longer;
    }
}
