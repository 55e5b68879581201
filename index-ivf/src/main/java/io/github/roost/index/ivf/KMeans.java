package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.TopK;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;

/**
 * Lloyd's iterations (IEEE Trans. Inf. Theory 28(2), 1982) from randomly drawn rows, on at most 256 rows a centroid, as
 * FAISS trains its coarse quantiser; an empty cluster takes half of the largest. Under inner product and cosine the
 * centroids are brought to length 1 (spherical k-means). Deterministic for a seed.
 */
final class KMeans {
    private static final int ROWS_PER_CENTROID = 256;
    private static final int ITERATIONS = 12;
    /** Vectors assigned in one task. */
    static final int GROUP = 256;
    /** How far the halves of a split cluster move apart, as a share of each coordinate. */
    private static final float SPLIT = 1f / 1024;

    /** Runs numbered tasks, all of them before it returns. */
    interface TaskRunner {
        void runAll(int tasks, IntConsumer task);
    }

    private final ScanKernel kernel;
    private final Metric metric;
    private final TaskRunner tasks;

    KMeans(ScanKernel kernel, Metric metric, TaskRunner tasks) {
        this.kernel = kernel;
        this.metric = metric;
        this.tasks = tasks;
    }

    /** The centroids of {@code lists} clusters. */
    CoarseQuantizer train(float[][] vectors, int lists, long seed) {
        int dimension = vectors[0].length;
        float[][] sample = sample(vectors, (int) Math.min(vectors.length, (long) lists * ROWS_PER_CENTROID), seed);
        float[] centroids = new float[lists * dimension];
        for (int list = 0; list < lists; list++) {
            System.arraycopy(sample[list], 0, centroids, list * dimension, dimension);
        }
        CoarseQuantizer quantizer = quantizer(dimension, centroids);
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            int[] listOf = assign(quantizer, sample);
            quantizer = quantizer(dimension, means(sample, listOf, lists));
        }
        return quantizer;
    }

    private CoarseQuantizer quantizer(int dimension, float[] centroids) {
        if (metric != Metric.SQUARED_L2) {
            for (int list = 0; list < centroids.length / dimension; list++) {
                normalize(centroids, list * dimension, dimension);
            }
        }
        return new CoarseQuantizer(kernel, metric, dimension, centroids);
    }

    /** Brings a vector to length 1; a zero vector stays. */
    static void normalize(float[] values, int from, int dimension) {
        double sum = 0;
        for (int i = from; i < from + dimension; i++) {
            sum += (double) values[i] * values[i];
        }
        if (sum > 0) {
            float scale = (float) (1 / Math.sqrt(sum));
            for (int i = from; i < from + dimension; i++) {
                values[i] *= scale;
            }
        }
    }

    private static float[][] sample(float[][] vectors, int size, long seed) {
        float[][] shuffled = vectors.clone();
        Random random = new Random(seed);
        for (int i = 0; i < size; i++) {
            int other = i + random.nextInt(shuffled.length - i);
            float[] kept = shuffled[i];
            shuffled[i] = shuffled[other];
            shuffled[other] = kept;
        }
        return Arrays.copyOf(shuffled, size);
    }

    /** The nearest list of every vector. */
    int[] assign(CoarseQuantizer quantizer, float[][] vectors) {
        int[] listOf = new int[vectors.length];
        tasks.runAll((vectors.length + GROUP - 1) / GROUP, task -> {
            int first = task * GROUP;
            int count = Math.min(GROUP, vectors.length - first);
            TopK nearest = quantizer.assign(flatten(vectors, first, count));
            for (int i = 0; i < count; i++) {
                listOf[first + i] = (int) nearest.nearest(i);
            }
        });
        return listOf;
    }

    private static float[] flatten(float[][] vectors, int first, int count) {
        int dimension = vectors[0].length;
        float[] flat = new float[count * dimension];
        for (int i = 0; i < count; i++) {
            System.arraycopy(vectors[first + i], 0, flat, i * dimension, dimension);
        }
        return flat;
    }

    private static float[] means(float[][] vectors, int[] listOf, int lists) {
        int dimension = vectors[0].length;
        double[] sums = new double[lists * dimension];
        int[] counts = new int[lists];
        for (int row = 0; row < vectors.length; row++) {
            int base = listOf[row] * dimension;
            counts[listOf[row]]++;
            for (int i = 0; i < dimension; i++) {
                sums[base + i] += vectors[row][i];
            }
        }
        float[] means = new float[sums.length];
        for (int list = 0; list < lists; list++) {
            for (int i = 0; i < dimension; i++) {
                means[list * dimension + i] = (float) (sums[list * dimension + i] / Math.max(1, counts[list]));
            }
        }
        splitInto(emptyLists(counts), means, counts, dimension);
        return means;
    }

    private static List<Integer> emptyLists(int[] counts) {
        List<Integer> empty = new ArrayList<>();
        for (int list = 0; list < counts.length; list++) {
            if (counts[list] == 0) {
                empty.add(list);
            }
        }
        return empty;
    }

    private static void splitInto(List<Integer> emptyLists, float[] means, int[] counts, int dimension) {
        for (int empty : emptyLists) {
            int largest = 0;
            for (int list = 1; list < counts.length; list++) {
                largest = counts[list] > counts[largest] ? list : largest;
            }
            for (int i = 0; i < dimension; i++) {
                float value = means[largest * dimension + i];
                float shift = (i % 2 == 0 ? SPLIT : -SPLIT) * value;
                means[empty * dimension + i] = value + shift;
                means[largest * dimension + i] = value - shift;
            }
            counts[empty] = counts[largest] / 2;
            counts[largest] -= counts[empty];
        }
    }
}
