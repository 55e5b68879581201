package io.github.roost.index.disk.build;

import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.Units;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Trains the centroids of codes on a sample of the rows, separately per part of a vector. Runs on the common pool: choosing the first centroids
 * of a part, and each iteration, takes up to some tenths of a second, during which a worker could not yield to searches. A cancelled
 * build ends after the running step.
 */
public final class CodeTraining {
    /** Constant, so that the sample is reproducible. */
    private static final long SEED = 42;
    /** Rows by which the scale is chosen. */
    private static final int SCALED = 1_024;

    /** The rows that centroids are trained on. Read by several threads. */
    public interface Sample {
        /** Number of rows, at least one. */
        int size();

        /** Copies some components of a row. */
        void read(int row, int begin, int length, float[] into, int at);
    }

    private CodeTraining() {}

    /** Number of steps of a training. */
    public static int steps(DiskLayout layout) {
        return layout.codeBytes() * (1 + KMeans.ITERATIONS);
    }

    /** Up to {@code max} different numbers of {@code count} rows. */
    public static int[] choose(int count, int max) {
        return count <= max
                ? IntStream.range(0, count).toArray()
                : new Random(SEED).ints(0, count).distinct().limit(max).toArray();
    }

    /** A factor, a power of two, by which the rows have ordinary components. */
    static float scale(Sample sample, int dimension) {
        int count = Math.min(sample.size(), SCALED);
        float[] some = new float[count * dimension];
        for (int i = 0; i < count; i++) {
            int row = (int) ((long) i * sample.size() / count);
            sample.read(row, 0, dimension, some, i * dimension);
        }
        return Units.scale(some, dimension);
    }

    /**
     * Trains centroids.
     *
     * @param done called with a number of steps, which may be 0, after these; ends the training if it throws
     * @return the centroids, one after another, each as long as a vector
     */
    public static float[] run(DiskLayout layout, Sample sample, IntConsumer done) {
        float scale = scale(sample, layout.dimension());
        float[] centroids = new float[DiskLayout.CENTROIDS * layout.dimension()];
        IntStream.range(0, layout.codeBytes()).parallel().forEach(part -> {
            int begin = layout.partBegin(part);
            int length = layout.partBegin(part + 1) - begin;
            done.accept(0);
            float[] points = new float[sample.size() * length];
            for (int row = 0; row < sample.size(); row++) {
                sample.read(row, begin, length, points, row * length);
            }
            Units.multiply(points, scale);
            train(points, length, done).write(centroids, layout, begin);
        });
        for (int i = 0; i < centroids.length && scale != 1; i++) {
            centroids[i] /= scale;
        }
        return centroids;
    }

    private static KMeans train(float[] points, int length, IntConsumer done) {
        KMeans means = new KMeans(points, length);
        done.accept(1);
        int steps = 0;
        boolean isSettled = false;
        while (steps < KMeans.ITERATIONS && !isSettled) {
            isSettled = means.improve();
            done.accept(1);
            steps++;
        }
        done.accept(KMeans.ITERATIONS - steps);
        return means;
    }
}
