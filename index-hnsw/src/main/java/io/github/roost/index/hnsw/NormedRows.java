package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.indexing.BuildWork;
import java.util.Arrays;
import java.util.concurrent.atomic.DoubleAccumulator;

/**
 * The rows from which a graph is built. Maximum inner product search is reduced to nearest neighbours in L2 by one more dimension,
 * which gives all rows the same norm and is zero in queries (Bachrach et al., RecSys 2014): inner product is not a distance, and
 * graphs built on it lose most of their neighbours. Searches of the graph compute the inner product, which ranks in the same order.
 * Under other metrics rows are unchanged. Immutable.
 *
 * @param dimension components per row
 * @param maxSquared the largest squared norm of the rows; unused if rows are unchanged
 */
record NormedRows(GraphRows rows, int dimension, double maxSquared) {
    private static final int RUN = 64;

    static NormedRows of(BuildWork work, GraphRows rows, DistinctRows nodes, Metric metric) {
        if (metric != Metric.INNER_PRODUCT) {
            return new NormedRows(rows, rows.dimension(), 0);
        }
        DoubleAccumulator max = new DoubleAccumulator(Math::max, 0);
        work.forEach(nodes.nodes(), RUN, node -> max.accumulate(GraphSpace.squaredNorm(rows.vector(nodes.row(node)))));
        return new NormedRows(rows, rows.dimension() + 1, max.get());
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
