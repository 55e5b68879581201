package io.github.roost.index.hnsw;

import io.github.roost.core.Metric;
import io.github.roost.core.vector.BuildWork;
import java.util.Arrays;
import java.util.concurrent.atomic.DoubleAccumulator;

/**
 * Rows as their graph is built of them. Largest inner product becomes smallest L2 distance by one more dimension that brings all
 * rows to one norm and is zero in queries (Bachrach et al., RecSys 2014): inner product itself is no distance, and graphs built
 * on it lose most of their neighbours. A walk over the graph measures the inner product itself, which ranks alike. Under other
 * metrics rows stay as they are. Immutable.
 *
 * @param dimension components of each
 * @param mostSquared the largest squared norm of the rows; of no meaning where they stay as they are
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
