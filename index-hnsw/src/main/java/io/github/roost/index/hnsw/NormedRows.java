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
 * @param mostSquared the largest squared norm of the rows; unused if rows are unchanged
 */
record NormedRows(GraphRows rows, int dimension, double mostSquared) {
    private static final int RUN = 64;

    static NormedRows of(BuildWork work, GraphRows rows, DistinctRows nodes, Metric metric) {
        if (metric != Metric.INNER_PRODUCT) {
            return new NormedRows(rows, rows.dimension(), 0);
        }
        DoubleAccumulator most = new DoubleAccumulator(Math::max, 0);
        work.forEach(nodes.nodes(), RUN, node -> most.accumulate(GraphSpace.squaredNorm(rows.vector(nodes.row(node)))));
        return new NormedRows(rows, rows.dimension() + 1, most.get());
    }

    float[] of(int row) {
        float[] values = rows.vector(row);
        if (dimension == values.length) {
            return values;
        }
        float[] longer = Arrays.copyOf(values, dimension);
        longer[values.length] = (float) Math.sqrt(mostSquared - GraphSpace.squaredNorm(values));
        return longer;
    }
}
