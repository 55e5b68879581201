package io.github.roost.index.disk.build;

import static io.github.roost.index.disk.format.DiskLayout.CENTROIDS;

import io.github.roost.index.disk.format.DiskLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Centroids of points of few components: the first by k-means++ (Arthur and Vassilvitskii, SODA 2007), then Lloyd's iterations. Nothing depends
 * on the unit of the points, whose squares must be floats. Not thread-safe.
 */
public final class KMeans {
    /** Max number of {@link #improve}. */
    public static final int ITERATIONS = 6;
    /** The training ends when at most this share of the points changes its centroid. */
    private static final double SETTLED = .01;
    /** Constant, so that the centroids are reproducible. */
    private static final long SEED = 42;

    private final float[] points;
    private final int length;
    private final int count;
    /** All first components of the centroids, then all second ones. */
    private final float[] centroids;

    private final int[] nearest;
    private final float[] scratch = new float[CENTROIDS];

    /**
     * Chooses the first centroids. If there are no more different points than centroids, each is one, and the last one is repeated.
     *
     * @param points at least one, one after another
     * @param length number of components of a point
     */
    public KMeans(float[] points, int length) {
        this.points = points;
        this.length = length;
        this.count = points.length / length;
        this.centroids = new float[length * CENTROIDS];
        this.nearest = new int[count];
        choose();
    }

    private void choose() {
        SplittableRandom random = new SplittableRandom(SEED);
        float[] distances = new float[count];
        Arrays.fill(distances, Float.MAX_VALUE);
        int chosen = random.nextInt(count);
        for (int centroid = 0; centroid < CENTROIDS; centroid++) {
            for (int i = 0; i < length; i++) {
                centroids[i * CENTROIDS + centroid] = points[chosen * length + i];
            }
            double sum = 0;
            for (int point = 0; point < count; point++) {
                float distance = 0;
                for (int i = 0; i < length; i++) {
                    float difference = points[point * length + i] - points[chosen * length + i];
                    distance += difference * difference;
                }
                if (distance < distances[point]) {
                    distances[point] = distance;
                    nearest[point] = centroid;
                }
                sum += distances[point];
            }
            double left = random.nextDouble() * sum;
            // The last point that is not a centroid yet, if rounding errors lead beyond it; else the same again.
            for (int point = 0; point < count && left >= 0; point++) {
                left -= distances[point];
                chosen = distances[point] > 0 ? point : chosen;
            }
        }
    }

    /** Assigns each point to its nearest centroid, and moves the centroids to the means; returns whether few points changed theirs. */
    public boolean improve() {
        move();
        int changed = 0;
        for (int point = 0; point < count; point++) {
            int best = nearest(point);
            if (best != nearest[point]) {
                changed++;
                nearest[point] = best;
            }
        }
        return changed <= SETTLED * count;
    }

    /** Moves the centroids to the means of their points. */
    private void move() {
        double[] sums = new double[centroids.length];
        int[] sizes = new int[CENTROIDS];
        for (int point = 0; point < count; point++) {
            sizes[nearest[point]]++;
            for (int i = 0; i < length; i++) {
                sums[i * CENTROIDS + nearest[point]] += points[point * length + i];
            }
        }
        for (int i = 0; i < sums.length; i++) {
            int size = sizes[i % CENTROIDS];
            centroids[i] = size == 0 ? centroids[i] : (float) (sums[i] / size);
        }
    }

    private int nearest(int point) {
        Arrays.fill(scratch, 0);
        for (int i = 0; i < length; i++) {
            float component = points[point * length + i];
            int from = i * CENTROIDS;
            for (int centroid = 0; centroid < CENTROIDS; centroid++) {
                float difference = component - centroids[from + centroid];
                scratch[centroid] += difference * difference;
            }
        }
        int best = 0;
        for (int centroid = 1; centroid < CENTROIDS; centroid++) {
            best = scratch[centroid] < scratch[best] ? centroid : best;
        }
        return best;
    }

    /**
     * Writes the centroids of one part of a code.
     *
     * @param into row-major, as in a file
     * @param begin the first component of the part
     */
    public void write(float[] into, DiskLayout layout, int begin) {
        for (int centroid = 0; centroid < CENTROIDS; centroid++) {
            for (int i = 0; i < length; i++) {
                into[centroid * layout.dimension() + begin + i] = centroids[i * CENTROIDS + centroid];
            }
        }
    }
}
