package io.github.roost.index.ivf;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.index.ivf.kernel.QueryGroup;
import io.github.roost.index.ivf.kernel.Reservoir;
import io.github.roost.index.ivf.kernel.RowRun;
import io.github.roost.index.ivf.kernel.ScanKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Finds the lists that are nearest to a vector, by scanning the centroids with the kernel. Thread-safe. */
final class CoarseQuantizer {
    private static final ThreadLocal<QueryGroup> GROUP = ThreadLocal.withInitial(QueryGroup::new);

    private final ScanKernel kernel;
    private final int dimension;
    private final RowRun centroids;

    CoarseQuantizer(ScanKernel kernel, float[][] centroids) {
        this.kernel = kernel;
        this.dimension = centroids[0].length;
        int stride = RowRun.strideOf(dimension);
        Arena arena = Arena.ofAuto();
        MemorySegment vectors = arena.allocate((long) centroids.length * stride * Float.BYTES, 64);
        MemorySegment ids = arena.allocate((long) centroids.length * Long.BYTES, 64);
        for (int i = 0; i < centroids.length; i++) {
            MemorySegment.copy(
                    centroids[i], 0, vectors, ValueLayout.JAVA_FLOAT, (long) i * stride * Float.BYTES, dimension);
            ids.setAtIndex(ValueLayout.JAVA_LONG, i, i);
        }
        this.centroids = new RowRun(vectors, ids, centroids.length, stride);
    }

    /** Copies of the centroids. */
    float[][] centroids() {
        float[][] copies = new float[size()][dimension];
        for (int i = 0; i < copies.length; i++) {
            long at = (long) i * centroids.stride() * Float.BYTES;
            MemorySegment.copy(centroids.vectors(), ValueLayout.JAVA_FLOAT, at, copies[i], 0, dimension);
        }
        return copies;
    }

    /** Number of lists. */
    int size() {
        return (int) centroids.count();
    }

    /**
     * The {@code count} nearest lists of one query, nearest first, in a table of this metric; fewer where a distance is not a
     * number.
     */
    int[] nearest(float[] query, int count, Metric metric) {
        Reservoir reservoir = new Reservoir(count);
        QueryGroup group = GROUP.get();
        // Rows went to lists by distance, so that is what lists are near by, for unit vectors too.
        group.begin(metric == Metric.INNER_PRODUCT ? metric : Metric.SQUARED_L2, dimension, count);
        group.add(query, reservoir, Float.POSITIVE_INFINITY);
        kernel.scan(centroids, group);
        group.finish();
        Neighbors nearest = NearestFirst.of(reservoir.copyOfIds(), reservoir.copyOfDistances(), count);
        int[] lists = new int[nearest.size()];
        for (int i = 0; i < lists.length; i++) {
            lists[i] = (int) nearest.ids()[i];
        }
        return lists;
    }

    /** Writes the nearest list, by squared L2, of rows {@code from} to {@code to} exclusive to {@code lists}. */
    void assign(RowSource rows, int from, int to, int[] lists) {
        QueryGroup group = GROUP.get();
        Reservoir[] reservoirs = new Reservoir[Math.min(QueryGroup.MAX_QUERIES, to - from)];
        for (int i = 0; i < reservoirs.length; i++) {
            reservoirs[i] = new Reservoir(1);
        }
        for (int first = from; first < to; first += reservoirs.length) {
            int count = Math.min(reservoirs.length, to - first);
            group.begin(Metric.SQUARED_L2, dimension, 1);
            for (int i = 0; i < count; i++) {
                reservoirs[i].clear();
                group.add(rows.row(first + i), reservoirs[i], Float.POSITIVE_INFINITY);
            }
            kernel.scan(centroids, group);
            group.finish();
            for (int i = 0; i < count; i++) {
                // A row so far out that all its distances overflow is near nothing; list 0 takes it.
                lists[first + i] = reservoirs[i].size() == 0 ? 0 : (int) reservoirs[i].nearestId();
            }
        }
    }
}
