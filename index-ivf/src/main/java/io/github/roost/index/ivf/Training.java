package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.ScanKernel;

/**
 * How a table's lists are made of its rows.
 *
 * @param kernel what computes distances
 * @param work the workers that do it
 * @param seed of the training: the same rows and seed give the same lists
 */
record Training(ScanKernel kernel, BatchWork work, long seed) {
    /** Trains {@code nlist} centroids, fewer where there are fewer rows, fills their lists, notes where each row lives. */
    Lists lists(RowSource rows, long[] ids, int nlist, int dimension, Locations locations) {
        float[][] centroids = new KMeans(kernel, work).train(rows, ids.length, Math.min(nlist, ids.length), seed);
        return Lists.build(new CoarseQuantizer(kernel, centroids), work, rows, ids, dimension, locations);
    }
}
