package io.github.roost.vector.math;

import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Lloyd's k-means (Lloyd, IEEE Trans. Information Theory 28(2), 1982), as steps of a build. How rows are assigned to centroids is up to the index.
 * The same rows and assignments give the same centroids, on any number of workers. Stateless.
 */
public final class KMeans {
    /** Rows per centroid to train on: more move the centroids too little to be worth the time, as in FAISS (Douze et al., 2024). */
    public static final int ROWS_PER_CENTROID = 256;

    private static final int ITERATIONS = 10;
    /** Each component of a split centroid moves by this share of itself, up in one half and down in the other. */
    private static final float SPLIT = 1f / 1024;

    private final BuildWork work;
    private final IntFunction<float[]> rows;

    /**
     * Creates a k-means that has not begun.
     *
     * @param work computes means on the workers, a centroid at a time
     * @param rows returns a row, which is not changed; called by several workers at once
     */
    public KMeans(BuildWork work, IntFunction<float[]> rows) {
        this.work = work;
        this.rows = rows;
    }

    /**
     * Returns the count of numbers that a training processes, for {@link BuildWork#phase(double, long)}, if each row is processed once per assignment.
     *
     * @param size the number of rows
     * @param centroids the number of centroids
     * @return the count of rows assigned and centroids moved
     */
    public static long numbers(int size, int centroids) {
        return ITERATIONS * ((long) size + centroids);
    }

    /**
     * Trains centroids.
     *
     * @param centroids the number of centroids, which begin as the first rows: the rows must be in random order, and at least as many
     * @param assign returns for each row the number of its centroid; it must not change the centroids
     * @return the centroids; they are finite if the rows are
     */
    public float[][] train(int centroids, Function<float[][], int[]> assign) {
        float[][] trained = new float[centroids][];
        for (int i = 0; i < centroids; i++) {
            trained[i] = rows.apply(i).clone();
        }
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            int[][] members = members(assign.apply(trained), centroids);
            trained = means(members, trained);
            splitForEmpty(trained, members);
        }
        return trained;
    }

    /**
     * Returns the means of sets of rows.
     *
     * @param members the rows of each set
     * @param before the results for empty sets
     * @return a mean per set
     */
    public float[][] means(int[][] members, float[][] before) {
        float[][] means = new float[members.length][];
        // By set, not by row, so that each sum is made by one thread in one order.
        work.run(members.length, 1, (from, to) -> {
            for (int set = from; set < to; set++) {
                means[set] = members[set].length == 0 ? before[set] : mean(members[set]);
            }
        });
        return means;
    }

    private float[] mean(int[] members) {
        double[] sums = new double[rows.apply(members[0]).length];
        for (int member : members) {
            work.yieldToSearches();
            float[] row = rows.apply(member);
            for (int d = 0; d < sums.length; d++) {
                sums[d] += row[d];
            }
        }
        float[] mean = new float[sums.length];
        for (int d = 0; d < mean.length; d++) {
            mean[d] = (float) (sums[d] / members.length);
        }
        return mean;
    }

    private static int[][] members(int[] assigned, int centroids) {
        int[] sizes = new int[centroids];
        for (int centroid : assigned) {
            sizes[centroid]++;
        }
        int[][] members = new int[centroids][];
        for (int centroid = 0; centroid < centroids; centroid++) {
            members[centroid] = new int[sizes[centroid]];
        }
        int[] filled = new int[centroids];
        for (int row = 0; row < assigned.length; row++) {
            members[assigned[row]][filled[assigned[row]]++] = row;
        }
        return members;
    }

    /** A centroid without rows takes half of the one with the most; of several, of the first. */
    private static void splitForEmpty(float[][] centroids, int[][] members) {
        int[] sizes = Arrays.stream(members).mapToInt(rows -> rows.length).toArray();
        PriorityQueue<Integer> largestFirst = new PriorityQueue<>(
                Comparator.<Integer>comparingInt(centroid -> -sizes[centroid]).thenComparing(centroid -> centroid));
        IntStream.range(0, sizes.length).filter(i -> sizes[i] > 0).forEach(largestFirst::add);
        for (int empty = 0; empty < sizes.length; empty++) {
            if (members[empty].length > 0) {
                continue;
            }
            int largest = largestFirst.remove();
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
            largestFirst.add(empty);
            largestFirst.add(largest);
        }
    }

    /** Clamps to finite values: a centroid that is infinite or NaN would never be the nearest, nor would its rows be found. */
    private static float moved(float component, float share) {
        return Math.clamp(component * (1 + share), -Float.MAX_VALUE, Float.MAX_VALUE);
    }
}
