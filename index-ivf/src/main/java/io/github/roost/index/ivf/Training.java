package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.KMeans;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a table's lists from its rows. Rows are in stored form, by ordinal, and may be read by several threads at once.
 *
 * @param kernel computes distances
 * @param seed of the training: the same rows and seed give the same lists
 * @param metric the table's metric
 * @param element the table's element type
 * @param codes whether FLOAT32 lists also store codes, if the kernel scans these faster
 * @param minCoded min rows for codes: fewer say too little about later rows
 * @param keepFloats whether INT8 lists also store floats
 */
record Training(
        ScanKernel kernel,
        long seed,
        Metric metric,
        ElementType element,
        boolean codes,
        int minCoded,
        boolean keepFloats) {
    static final int MIN_CODED = 1_024;
    /** Share of a build's progress after the training of centroids, and after the filling of lists. */
    private static final double TRAINED = .6;

    private static final double FILLED = .9;

    /** Trains min({@code nlist}, rows) centroids, fills their lists and records the location of each row. */
    Lists lists(BuildWork work, IntFunction<float[]> rows, long[] ids, int nlist, int dimension, RowMap locations) {
        RowLayout layout = RowLayout.of(element, keepFloats, dimension, codec(work, rows, ids.length, dimension));
        return lists(work, rows, ids, nlist, layout, locations);
    }

    private @Nullable ScalarCodec codec(BuildWork work, IntFunction<float[]> rows, int count, int dimension) {
        return switch (element) {
            case FLOAT32 ->
                codes && kernel.scansCodesFaster() && count >= minCoded ? ScalarCodec.exact(metric, rows, count) : null;
            case FLOAT16 -> null;
            case INT8 -> ScalarCodec.learn(metric, work, rows, count, dimension);
        };
    }

    /** Retrains {@link #lists} on rows from other lists. */
    Lists again(BuildWork work, IntFunction<float[]> rows, long[] ids, int nlist, Lists before, RowMap locations) {
        // Without floats, rows are decoded codes: only the same codec loses nothing more.
        return before.layout().floats()
                ? lists(work, rows, ids, nlist, before.layout().dimension(), locations)
                : lists(work, rows, ids, nlist, before.layout(), locations);
    }

    private Lists lists(
            BuildWork work, IntFunction<float[]> rows, long[] ids, int nlist, RowLayout layout, RowMap locations) {
        int lists = Math.min(nlist, ids.length);
        int[] sample = sample(ids.length, lists);
        work.phase(TRAINED, KMeans.numbers(sample.length, lists));
        IntFunction<float[]> sampled = ordinal -> rows.apply(sample[ordinal]);
        float[][] centroids = new KMeans(work, sampled)
                .train(lists, moved -> new CoarseQuantizer(kernel, moved).assign(work, sampled, sample.length));
        work.phase(FILLED, 2L * ids.length);
        return Lists.build(new CoarseQuantizer(kernel, centroids), work, rows, ids, layout, locations);
    }

    /** The rows that centroids are trained on: the first of a random permutation of all. */
    private int[] sample(int count, int lists) {
        Random random = new Random(seed);
        int size = (int) Math.min(count, (long) lists * KMeans.ROWS_PER_CENTROID);
        int[] ordinals = IntStream.range(0, count).toArray();
        for (int i = 0; i < size; i++) {
            int other = i + random.nextInt(count - i);
            int swapped = ordinals[i];
            ordinals[i] = ordinals[other];
            ordinals[other] = swapped;
        }
        return Arrays.copyOf(ordinals, size);
    }
}
