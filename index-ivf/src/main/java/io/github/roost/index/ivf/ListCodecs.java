package io.github.roost.index.ivf;

import io.github.roost.vector.Metric;
import io.github.roost.vector.math.CodeRecall;
import io.github.roost.vector.math.ScalarQuantizer;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The codecs of a table's lists. The rows of a list are coded as differences from its centroid, so that rows of regions far apart lose no precision to each other (FAISS's {@code
 * by_residual}).
 *
 * @param ofLists one per list
 * @param ofBuffer codes rows that are in no list yet; those that would lose much more than in a list are found by every scan
 * @param recall the share of near rows that the codes find, measured on some lists
 */
record ListCodecs(ScalarCodec[] ofLists, ScalarCodec ofBuffer, double recall) {
    private static final int LISTS_PER_STEP = 16;
    private static final int ROWS_PER_STEP = 4_096;
    /** Rows that show the loss of a list. */
    private static final int SAMPLE = 64;
    /** A list of fewer rows is judged by the other lists too: later rows will differ. */
    private static final int FEW = 16;
    /** Loss of a row of the buffer, in multiples of that of an ordinary list; more than that is worth a comparison of floats. */
    private static final double BUFFERED_LOSS = 2;
    /** Loss of a row, in multiples of that of the others of its list, if no bound depends on it. */
    private static final double LOSS_ALONE = 2;
    /** Lists on which recall is measured. */
    private static final int MEASURED = 16;

    /**
     * Makes the codecs on the workers.
     *
     * @param lists the number of each row's list
     * @param alone whether rows are judged by codes alone: whole numbers that fit 8 bits are kept then, and a row may lose more
     */
    static ListCodecs of(
            Metric metric, BuildWork work, IntFunction<float[]> rows, int[] lists, float[][] centroids, boolean alone) {
        Members members = Members.of(lists, centroids.length);
        Whole range = new Whole(centroids[0].length);
        if (alone) {
            work.run(lists.length, ROWS_PER_STEP, (from, to) -> range.add(rows, from, to));
            range.widen();
        }
        ScalarCodec[] codecs = new ScalarCodec[centroids.length];
        work.run(codecs.length, LISTS_PER_STEP, (from, to) -> {
            for (int list = from; list < to; list++) {
                ScalarQuantizer quantizer =
                        new ScalarQuantizer(alone && range.isWhole ? range.center(centroids[list]) : centroids[list]);
                float[][] sample = members.sample(list, rows, SAMPLE);
                codecs[list] = ScalarCodec.of(
                        metric, quantizer, sample.length == 0 ? new float[][] {centroids[list]} : sample);
            }
        });
        ScalarCodec.Loss usual =
                new ScalarCodec.Loss(median(codecs, ScalarCodec.Loss::length), median(codecs, ScalarCodec.Loss::error));
        for (int list = 0; list < codecs.length; list++) {
            if (members.size(list) < FEW) {
                codecs[list] = codecs[list].with(codecs[list].maxLoss().max(usual));
            }
            if (alone) {
                codecs[list] = codecs[list].with(codecs[list].maxLoss().times(LOSS_ALONE));
            }
        }
        float[][] sample = Arrays.stream(ScalarQuantizer.sample(codecs.length))
                .mapToObj(list -> codecs[list].quantizer().center())
                .toArray(float[][]::new);
        ScalarCodec ofBuffer = new ScalarCodec(metric, ScalarQuantizer.of(sample), usual.times(BUFFERED_LOSS));
        return new ListCodecs(
                codecs, ofBuffer, recall(metric == Metric.COSINE ? Metric.SQUARED_L2 : metric, codecs, members, rows));
    }

    /** The median of the lists. */
    private static double median(ScalarCodec[] codecs, ToDoubleFunction<ScalarCodec.Loss> size) {
        double[] sorted = Arrays.stream(codecs)
                .map(ScalarCodec::maxLoss)
                .mapToDouble(size)
                .sorted()
                .toArray();
        return sorted[sorted.length / 2];
    }

    /** The recall in lists of evenly spaced rows, so that long lists count more. */
    private static double recall(Metric metric, ScalarCodec[] codecs, Members members, IntFunction<float[]> rows) {
        int measured = Math.min(MEASURED, members.rows.length);
        return IntStream.range(0, measured)
                .map(i -> members.listAt((int) ((long) i * members.rows.length / measured)))
                .distinct()
                .mapToDouble(list -> CodeRecall.of(
                        metric,
                        codecs[list].quantizer(),
                        i -> rows.apply(members.rows[members.begins[list] + i]),
                        members.size(list)))
                .average()
                .orElse(1);
    }

    /**
     * The rows of each list.
     *
     * @param begins where the rows of each list begin in {@code rows}, and the end
     * @param rows ordinals, list by list
     */
    private record Members(int[] begins, int[] rows) {
        static Members of(int[] lists, int count) {
            int[] begins = new int[count + 1];
            for (int list : lists) {
                begins[list + 1]++;
            }
            Arrays.parallelPrefix(begins, Integer::sum);
            int[] next = begins.clone();
            int[] rows = new int[lists.length];
            for (int row = 0; row < lists.length; row++) {
                rows[next[lists[row]]++] = row;
            }
            return new Members(begins, rows);
        }

        int size(int list) {
            return begins[list + 1] - begins[list];
        }

        int listAt(int index) {
            int at = Arrays.binarySearch(begins, index);
            int list = at < 0 ? -at - 2 : at;
            while (size(list) == 0) {
                list++;
            }
            return list;
        }

        float[][] sample(int list, IntFunction<float[]> source, int max) {
            int size = Math.min(max, size(list));
            return IntStream.range(0, size)
                    .mapToObj(i -> source.apply(rows[begins[list] + (int) ((long) i * size(list) / size)]))
                    .toArray(float[][]::new);
        }
    }

    /** The ranges of rows of whole numbers. Rows may be added by several threads, before {@link #widen}. */
    private static final class Whole {
        private static final int MAX_WIDTH = 255;
        private final float[] min;
        private final float[] max;
        private volatile boolean isWhole = true;

        Whole(int dimension) {
            min = new float[dimension];
            max = new float[dimension];
            Arrays.fill(min, Float.POSITIVE_INFINITY);
            Arrays.fill(max, Float.NEGATIVE_INFINITY);
        }

        void add(IntFunction<float[]> rows, int from, int to) {
            float[] least = min.clone();
            float[] most = max.clone();
            for (int row = from; row < to && isWhole; row++) {
                float[] values = rows.apply(row);
                for (int d = 0; d < least.length; d++) {
                    least[d] = Math.min(least[d], values[d]);
                    most[d] = Math.max(most[d], values[d]);
                    if (values[d] != Math.rint(values[d])) {
                        isWhole = false;
                        return;
                    }
                }
            }
            synchronized (this) {
                for (int d = 0; d < min.length; d++) {
                    min[d] = Math.min(min[d], least[d]);
                    max[d] = Math.max(max[d], most[d]);
                }
            }
        }

        /** Takes rows of a wide part of a byte's range for bytes: later rows may have any other. */
        void widen() {
            float least = Float.POSITIVE_INFINITY;
            float most = Float.NEGATIVE_INFINITY;
            for (int d = 0; d < min.length; d++) {
                least = Math.min(least, min[d]);
                most = Math.max(most, max[d]);
            }
            float from = least >= 0 ? 0 : -ScalarQuantizer.MIDDLE;
            if (most - least >= ScalarQuantizer.MIDDLE && least >= from && most <= from + MAX_WIDTH) {
                Arrays.fill(min, from);
                Arrays.fill(max, from + MAX_WIDTH);
            }
        }

        /** The whole numbers nearest to a centroid from which, if possible, no row is farther than a code reaches. */
        float[] center(float[] centroid) {
            float[] center = new float[centroid.length];
            for (int d = 0; d < center.length; d++) {
                center[d] = (float) Math.rint(centroid[d]);
                if ((double) max[d] - min[d] <= MAX_WIDTH) {
                    float lowest = max[d] - (ScalarQuantizer.MIDDLE - 1);
                    center[d] = Math.clamp(
                            center[d],
                            Math.min(lowest, min[d] + ScalarQuantizer.MIDDLE),
                            min[d] + ScalarQuantizer.MIDDLE);
                }
            }
            return center;
        }
    }
}
