package io.github.roost.index.disk;

import io.github.jbellis.jvector.graph.RandomAccessVectorValues;
import io.github.jbellis.jvector.quantization.KMeansPlusPlusClusterer;
import io.github.jbellis.jvector.vector.VectorizationProvider;
import io.github.jbellis.jvector.vector.types.VectorFloat;
import io.github.jbellis.jvector.vector.types.VectorTypeSupport;
import io.github.roost.core.vector.BuildWork;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Trains the centroids of codes, those of each part of a vector by themselves: k-means++ (Arthur and Vassilvitskii, SODA 2007) and
 * Lloyd's iterations by jvector, on a sample of the rows. It runs on the common pool: to choose the first centroids of a part, and each
 * iteration, take up to some tenths of a second, in which a worker could not give way to searches. A build that was cancelled ends
 * after the one that is under way.
 */
final class CodeTraining {
    private static final VectorTypeSupport VECTORS =
            VectorizationProvider.getInstance().getVectorTypeSupport();
    private static final int MAX_SAMPLE = 128_000;
    private static final int ITERATIONS = 6;
    /** A part is trained when no more than this share of the sample changes its centroid. */
    private static final double SETTLED = .01;
    /** The same rows each time. */
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

    /** How many steps {@link #run} counts. */
    int steps() {
        return layout.codeBytes() * (1 + ITERATIONS);
    }

    /** Fills the centroids of the codes; where there are fewer rows than centroids the rest are the last one. */
    void run(Codes codes) {
        IntStream.range(0, layout.codeBytes()).parallel().forEach(part -> train(part, codes));
    }

    private void train(int part, Codes codes) {
        int begin = layout.partBegin(part);
        int length = layout.partBegin(part + 1) - begin;
        work.done(0);
        int count = Math.min(DiskLayout.CENTROIDS, sample.length);
        KMeansPlusPlusClusterer clusterer =
                new KMeansPlusPlusClusterer(components(begin, length), count, KMeansPlusPlusClusterer.UNWEIGHTED);
        work.done(1);
        int done = 0;
        boolean settled = false;
        while (done < ITERATIONS && !settled) {
            settled = clusterer.clusterOnceUnweighted() <= SETTLED * sample.length;
            work.done(1);
            done++;
        }
        work.done(ITERATIONS - done);
        VectorFloat<?> trained = clusterer.getCentroids();
        for (int centroid = 0; centroid < DiskLayout.CENTROIDS; centroid++) {
            int at = Math.min(centroid, count - 1) * length;
            for (int i = 0; i < length; i++) {
                codes.centroids()
                        .set(DiskLayout.FLOAT, layout.centroidOffset(centroid, begin + i), trained.get(at + i));
            }
        }
    }

    /** Some components of the rows of the sample. */
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
