package io.github.roost.index.disk.build;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.quantization.KMeansPlusPlusClusterer;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.vector.spi.BuildWork;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Trains the centroids of codes, separately per part of a vector: k-means++ (Arthur and Vassilvitskii, SODA 2007) and
 * Lloyd's iterations by jvector, on a sample of the rows. Runs on the common pool: choosing the first centroids of a part, and each
 * iteration, takes up to some tenths of a second, during which a worker could not yield to searches. A cancelled build ends
 * after the running step.
 */
final class CodeTraining {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    private static final int MAX_SAMPLE = 128_000;
    private static final int ITERATIONS = 6;
    /** The training of a part ends when at most this share of the sample changes its centroid. */
    private static final double SETTLED = .01;
    /** Constant, so that the sample is reproducible. */
    private static final long SEED = 42;

    private final BuildWork work;
    private final DiskLayout layout;
    private final BuildRows rows;
    private final int[] sample;

    CodeTraining(BuildWork work, DiskLayout layout, BuildRows rows) {
        this.work = work;
        this.layout = layout;
        this.rows = rows;
        this.sample = rows.size() <= MAX_SAMPLE
                ? IntStream.range(0, rows.size()).toArray()
                : new Random(SEED)
                        .ints(0, rows.size())
                        .distinct()
                        .limit(MAX_SAMPLE)
                        .toArray();
    }

    /** Number of steps that {@link #run} counts. */
    int steps() {
        return layout.codeBytes() * (1 + ITERATIONS);
    }

    /**
     * Fills the centroids of the codes. If there are no more rows than centroids, every row is a centroid and the last one is
     * repeated.
     */
    void run(ProductCodes codes) {
        IntStream.range(0, layout.codeBytes()).parallel().forEach(part -> train(part, codes));
    }

    private void train(int part, ProductCodes codes) {
        int begin = layout.partBegin(part);
        int length = layout.partBegin(part + 1) - begin;
        work.done(0);
        VectorFloat<?>[] components = components(begin, length);
        VectorFloat<?> centroids =
                components.length <= DiskLayout.CENTROIDS ? joined(components, length) : trained(components);
        int last = centroids.length() / length - 1;
        for (int centroid = 0; centroid < DiskLayout.CENTROIDS; centroid++) {
            int at = Math.min(centroid, last) * length;
            for (int i = 0; i < length; i++) {
                codes.centroids()
                        .set(DiskLayout.FLOAT, layout.centroidOffset(centroid, begin + i), centroids.get(at + i));
            }
        }
    }

    /** The clusterer draws its first centroids by chance, so it would leave out some of so few rows. */
    private VectorFloat<?> joined(VectorFloat<?>[] components, int length) {
        VectorFloat<?> joined = VECTORS.createFloatVector(components.length * length);
        for (int i = 0; i < components.length; i++) {
            joined.copyFrom(components[i], 0, i * length, length);
        }
        work.done(1 + ITERATIONS);
        return joined;
    }

    private VectorFloat<?> trained(VectorFloat<?>[] components) {
        KMeansPlusPlusClusterer clusterer =
                new KMeansPlusPlusClusterer(components, DiskLayout.CENTROIDS, KMeansPlusPlusClusterer.UNWEIGHTED);
        work.done(1);
        int done = 0;
        boolean settled = false;
        while (done < ITERATIONS && !settled) {
            settled = clusterer.clusterOnceUnweighted() <= SETTLED * components.length;
            work.done(1);
            done++;
        }
        work.done(ITERATIONS - done);
        return clusterer.getCentroids();
    }

    /** The components of one part, for all rows of the sample. */
    private VectorFloat<?>[] components(int begin, int length) {
        RandomAccessVectorValues view = rows.view();
        VectorFloat<?>[] components = new VectorFloat<?>[sample.length];
        for (int i = 0; i < components.length; i++) {
            components[i] = VECTORS.createFloatVector(length);
            components[i].copyFrom(view.getVector(sample[i]), begin, 0, length);
        }
        return components;
    }
}
