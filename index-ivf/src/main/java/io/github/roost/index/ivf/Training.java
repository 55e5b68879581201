package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.ElementType;
import io.github.roost.index.ivf.kernel.ScanKernel;
import org.jspecify.annotations.Nullable;

/**
 * How a table's lists are made of its rows.
 *
 * @param kernel what computes distances
 * @param work the workers that do it
 * @param seed of the training: the same rows and seed give the same lists
 * @param metric how distances are measured
 * @param element what distances are to
 * @param codes whether bytes are kept beside floats, and scanned; where the kernel is faster with these
 * @param leastCoded of fewer rows none are, for these say little of those that come later
 * @param keepFloats whether floats are kept beside bytes
 */
record Training(
        ScanKernel kernel,
        BuildWork work,
        long seed,
        Metric metric,
        ElementType element,
        boolean codes,
        int leastCoded,
        boolean keepFloats) {
    static final int MIN_CODED = 1_024;
    /** How much of a build is done when centroids are trained, and when lists are filled. */
    private static final double TRAINED = .6;

    private static final double FILLED = .9;

    /** The same by other work. */
    Training with(BuildWork other) {
        return new Training(kernel, other, seed, metric, element, codes, leastCoded, keepFloats);
    }

    /** Trains {@code nlist} centroids, fewer where there are fewer rows, fills their lists, notes where each row lives. */
    Lists lists(RowSource rows, long[] ids, int nlist, int dimension, Locations locations) {
        RowLayout layout = RowLayout.of(element, keepFloats, dimension, codec(rows, ids.length, dimension));
        return lists(rows, ids, nlist, layout, locations);
    }

    private @Nullable ScalarCodec codec(RowSource rows, int count, int dimension) {
        return switch (element) {
            case FLOAT32 ->
                codes && kernel.scansCodesFaster() && count >= leastCoded
                        ? ScalarCodec.exact(metric, rows, count)
                        : null;
            case FLOAT16 -> null;
            case INT8 -> ScalarCodec.learn(metric, work, rows, count, dimension);
        };
    }

    /** {@link #lists} of rows from other lists, anew. */
    Lists again(RowSource rows, long[] ids, int nlist, Lists before, Locations locations) {
        // Where no floats are kept, rows are what a codec made of them: the same codec loses nothing more.
        return before.layout().floats()
                ? lists(rows, ids, nlist, before.layout().dimension(), locations)
                : lists(rows, ids, nlist, before.layout(), locations);
    }

    private Lists lists(RowSource rows, long[] ids, int nlist, RowLayout layout, Locations locations) {
        int lists = Math.min(nlist, ids.length);
        work.phase(TRAINED, KMeans.rowsAssigned(ids.length, lists));
        float[][] centroids = new KMeans(kernel, work).train(rows, ids.length, lists, seed);
        work.phase(FILLED, 2L * ids.length);
        return Lists.build(new CoarseQuantizer(kernel, centroids), work, rows, ids, layout, locations);
    }
}
