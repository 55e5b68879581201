package io.github.roost.index.ivf;

import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.neighborhash.spi.RowMap;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.Metric;
import io.github.roost.vector.math.CodeRecall;
import io.github.roost.vector.math.KMeans;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * @param nprobe the lists' nprobe; 0 to measure it
 * @param targetRecall the share of the true neighbors for which nprobe is measured
 */
record Training(
        ScanKernel kernel,
        long seed,
        Metric metric,
        ElementType element,
        boolean codes,
        int minCoded,
        boolean keepFloats,
        int nprobe,
        double targetRecall) {
    static final int MIN_CODED = 1_024;
    private static final Logger LOG = LoggerFactory.getLogger(Training.class);
    /** Share of a build's progress after the training of centroids, and after the filling of lists. */
    private static final double TRAINED = .6;

    private static final double FILLED = .9;

    /** Whether nprobe is measured. */
    boolean measuresProbes() {
        return nprobe == 0;
    }

    /** Trains min({@code nlist}, rows) centroids, fills their lists, records the location of each row and sets the lists' nprobe. */
    Lists lists(BuildWork work, IntFunction<float[]> rows, long[] ids, int nlist, int dimension, RowMap locations) {
        Lists filled = filled(work, rows, ids, nlist, dimension, locations);
        work.phase(1, ids.length);
        return filled.probing(
                measuresProbes()
                        ? ProbeChoice.fewest(this, work, rows, ids, filled, locations)
                        : Math.min(nprobe, filled.count()));
    }

    private Lists filled(
            BuildWork work, IntFunction<float[]> rows, long[] ids, int nlist, int dimension, RowMap locations) {
        int lists = Math.min(nlist, ids.length);
        int[] sample = sample(ids.length, lists);
        work.phase(TRAINED, KMeans.numbers(sample.length, lists));
        IntFunction<float[]> sampled = ordinal -> rows.apply(sample[ordinal]);
        float[][] centroids = new KMeans(work, sampled)
                .train(lists, moved -> new CoarseQuantizer(kernel, moved).assign(work, sampled, sample.length));
        work.phase(FILLED, (element == ElementType.INT8 ? 3L : 2L) * ids.length + lists);
        CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
        int[] assigned = quantizer.assign(work, rows, ids.length);
        ListCodecs codecs = codecs(work, rows, assigned, centroids);
        return codecs == null
                ? Lists.build(quantizer, assigned, work, rows, ids, layout(dimension, null), List.of(), locations)
                : Lists.build(
                        quantizer,
                        assigned,
                        work,
                        rows,
                        ids,
                        layout(dimension, codecs.ofBuffer()),
                        List.of(codecs.ofLists()),
                        locations);
    }

    private RowLayout layout(int dimension, @Nullable ScalarCodec ofBuffer) {
        return RowLayout.of(element, keepFloats, dimension, ofBuffer);
    }

    /** The codecs of the lists; null if floats are scanned. */
    private @Nullable ListCodecs codecs(BuildWork work, IntFunction<float[]> rows, int[] lists, float[][] centroids) {
        boolean isWanted = switch (element) {
            case FLOAT32 -> codes && kernel.scansCodesFaster() && lists.length >= minCoded;
            case FLOAT16 -> false;
            case INT8 -> true;
        };
        if (!isWanted) {
            return null;
        }
        ListCodecs made = ListCodecs.of(metric, work, rows, lists, centroids, element == ElementType.INT8);
        if (made.recall() >= CodeRecall.ENOUGH) {
            return made;
        }
        boolean isFloats = element == ElementType.FLOAT32 || keepFloats;
        LOG.info(
                "8-bit codes of these {} rows would find {} of their near rows in a list: {}",
                lists.length,
                made.recall(),
                isFloats ? "scans read floats instead" : "keep the floats, so that scans can read these");
        return isFloats ? null : made;
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
