package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.ScanKernel;
import io.github.roost.index.ivf.kernel.TopK;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The centroids of an IVF table, and which of them are nearest to a vector. Immutable; thread-safe. */
final class CoarseQuantizer {
    private final ScanKernel kernel;
    private final Metric metric;
    private final int dimension;
    private final int lists;
    private final MemorySegment centroids;
    private final MemorySegment ordinals;

    /** @param centroids row-major, one a list */
    CoarseQuantizer(ScanKernel kernel, Metric metric, int dimension, float[] centroids) {
        this.kernel = kernel;
        this.metric = metric;
        this.dimension = dimension;
        this.lists = centroids.length / dimension;
        Arena arena = Arena.ofAuto();
        this.centroids = arena.allocate((long) centroids.length * Float.BYTES, 64);
        this.ordinals = arena.allocate((long) lists * Long.BYTES, 64);
        MemorySegment.copy(centroids, 0, this.centroids, ValueLayout.JAVA_FLOAT, 0, centroids.length);
        for (int list = 0; list < lists; list++) {
            ordinals.setAtIndex(ValueLayout.JAVA_LONG, list, list);
        }
    }

    int lists() {
        return lists;
    }

    /** The {@code count} lists nearest to a query, nearest first. */
    Neighbors nearest(float[] query, int count) {
        TopK top = new TopK(1, count);
        kernel.scan(metric, query, dimension, centroids, ordinals, lists, top);
        return top.neighbors(0);
    }

    /** The nearest list of each of a group of vectors, row-major. */
    TopK assign(float[] vectors) {
        TopK top = new TopK(vectors.length / dimension, 1);
        kernel.scan(metric, vectors, dimension, centroids, ordinals, lists, top);
        return top;
    }
}
