package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.index.ivf.kernel.ScanKernel;

/**
 * How a table's lists are made of its rows.
 *
 * @param kernel what computes distances
 * @param work the workers that do it
 * @param seed of the training: the same rows and seed give the same lists
 * @param metric how distances are measured
 * @param element what is scanned
 * @param keepFloats whether floats are kept beside bytes
 */
record Training(ScanKernel kernel, BatchWork work, long seed, Metric metric, ElementType element, boolean keepFloats) {
    /** Trains {@code nlist} centroids, fewer where there are fewer rows, fills their lists, notes where each row lives. */
    Lists lists(RowSource rows, long[] ids, int nlist, int dimension, Locations locations) {
        ScalarCodec codec =
                element == ElementType.INT8 ? ScalarCodec.learn(metric, work, rows, ids.length, dimension) : null;
        return lists(rows, ids, nlist, RowLayout.of(element, keepFloats, dimension, codec), locations);
    }

    /** {@link #lists} of rows from other lists, anew. */
    Lists again(RowSource rows, long[] ids, int nlist, Lists before, Locations locations) {
        // Where no floats are kept, rows are what a codec made of them: the same codec loses nothing more.
        return before.layout().floats()
                ? lists(rows, ids, nlist, before.layout().dimension(), locations)
                : lists(rows, ids, nlist, before.layout(), locations);
    }

    private Lists lists(RowSource rows, long[] ids, int nlist, RowLayout layout, Locations locations) {
        float[][] centroids = new KMeans(kernel, work).train(rows, ids.length, Math.min(nlist, ids.length), seed);
        return Lists.build(new CoarseQuantizer(kernel, centroids), work, rows, ids, layout, locations);
    }
}
