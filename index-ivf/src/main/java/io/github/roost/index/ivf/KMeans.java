package io.github.roost.index.ivf;

import io.github.roost.core.indexing.BuildWork;
import io.github.roost.index.ivf.kernel.ScanKernel;
import java.util.Arrays;
import java.util.Random;

/**
 * Lloyd's k-means from a random sample of rows (Lloyd, 1982), on at most {@value #ROWS_PER_CENTROID} rows per centroid,
 * as in FAISS (Douze et al., 2024). The same seed gives the same centroids, on any number of workers.
 */
final class KMeans {
    /** More rows than this move the centroids too little to be worth the time. */
    static final int ROWS_PER_CENTROID = 256;

    private static final int ITERATIONS = 10;
    private static final int ROWS_PER_STEP = 256;
    /** Distance between the halves of a split centroid, relative to its components. */
    private static final float SPLIT = 1f / 1024;

    private final ScanKernel kernel;
    private final BuildWork work;

    KMeans(ScanKernel kernel, BuildWork work) {
        this.kernel = kernel;
        this.work = work;
    }

    /** Number of rows assigned and centroids moved in a whole training. */
    static long rowsAssigned(int rows, int nlist) {
        return ITERATIONS * (Math.min(rows, (long) nlist * ROWS_PER_CENTROID) + nlist);
    }

    /** Trains {@code nlist} centroids on the rows. */
    float[][] train(RowSource rows, int count, int nlist, long seed) {
        int[] sample = sample(count, (int) Math.min(count, (long) nlist * ROWS_PER_CENTROID), new Random(seed));
        RowSource sampled = ordinal -> rows.row(sample[ordinal]);
        float[][] centroids = new float[nlist][];
        for (int i = 0; i < nlist; i++) {
            centroids[i] = sampled.row(i).clone();
        }
        int[] assigned = new int[sample.length];
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            CoarseQuantizer quantizer = new CoarseQuantizer(kernel, centroids);
            work.run(sample.length, ROWS_PER_STEP, (from, to) -> quantizer.assign(sampled, from, to, assigned));
            update(centroids, sampled, assigned);
        }
        return centroids;
    }

    /** The first {@code size} of a random permutation of 0 to {@code count}. */
    private static int[] sample(int count, int size, Random random) {
        int[] ordinals = new int[count];
        for (int i = 0; i < count; i++) {
            ordinals[i] = i;
        }
        for (int i = 0; i < size; i++) {
            int other = i + random.nextInt(count - i);
            int swapped = ordinals[i];
            ordinals[i] = ordinals[other];
            ordinals[other] = swapped;
        }
        return Arrays.copyOf(ordinals, size);
    }

    private void update(float[][] centroids, RowSource rows, int[] assigned) {
        int[] order = new int[assigned.length];
        int[] ends = new int[centroids.length + 1];
        for (int list : assigned) {
            ends[list + 1]++;
        }
        for (int list = 0; list < centroids.length; list++) {
            ends[list + 1] += ends[list];
        }
        int[] next = ends.clone();
        for (int row = 0; row < assigned.length; row++) {
            order[next[assigned[row]]++] = row;
        }
        // By centroid, not by row, so that each sum is made by one thread in one order.
        work.run(centroids.length, 16, (from, to) -> {
            for (int list = from; list < to; list++) {
                if (ends[list] < ends[list + 1]) {
                    centroids[list] = mean(rows, order, ends[list], ends[list + 1]);
                }
            }
        });
        int[] sizes = new int[centroids.length];
        for (int list = 0; list < sizes.length; list++) {
            sizes[list] = ends[list + 1] - ends[list];
        }
        splitForEmpty(centroids, sizes);
    }

    private static float[] mean(RowSource rows, int[] order, int from, int to) {
        float[] first = rows.row(order[from]);
        double[] sums = new double[first.length];
        for (int i = from; i < to; i++) {
            float[] row = rows.row(order[i]);
            for (int d = 0; d < sums.length; d++) {
                sums[d] += row[d];
            }
        }
        float[] mean = new float[sums.length];
        for (int d = 0; d < mean.length; d++) {
            mean[d] = (float) (sums[d] / (to - from));
        }
        return mean;
    }

    /** A centroid without rows takes half of the one with the most. */
    private static void splitForEmpty(float[][] centroids, int[] sizes) {
        for (int empty = 0; empty < sizes.length; empty++) {
            if (sizes[empty] > 0) {
                continue;
            }
            int largest = 0;
            for (int list = 1; list < sizes.length; list++) {
                largest = sizes[list] > sizes[largest] ? list : largest;
            }
            float[] half = centroids[largest].clone();
            float[] other = centroids[largest].clone();
            for (int d = 0; d < half.length; d++) {
                float sign = d % 2 == 0 ? SPLIT : -SPLIT;
                half[d] = moved(half[d], sign);
                other[d] = moved(other[d], -sign);
            }
            centroids[empty] = half;
            centroids[largest] = other;
            sizes[empty] = sizes[largest] / 2;
            sizes[largest] -= sizes[empty];
        }
    }

    /** Clamps to finite values: a list whose centroid is infinite or NaN would never be found, nor would its rows. */
    private static float moved(float component, float share) {
        return Math.clamp(component * (1 + share), -Float.MAX_VALUE, Float.MAX_VALUE);
    }
}
