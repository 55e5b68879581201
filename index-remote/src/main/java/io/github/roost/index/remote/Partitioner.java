package io.github.roost.index.remote;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.vector.BuildWork;
import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.index.hnsw.HnswGraph;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Finds centroids by Lloyd's iterations over a sample (Lloyd, 1982), and the rows of their partitions. Nearest centroids are found by a
 * graph of them, which is what searches use too. Used once.
 */
final class Partitioner {
    /** More rows than these move the centroids too little to pay for the time. */
    private static final int ROWS_PER_CENTROID = 256;

    private static final int ITERATIONS = 10;
    private static final int STEP = 256;
    /** Partitions that a row is tried in before all. */
    private static final int NEAR = 8;

    private static final double SLACK = .1;
    private static final SearchContext OUTSIDE = SearchContext.outside((nodes, bytes) -> {});

    private final BuildWork work;
    /** Of a graph: it has phases of its own. */
    private final Supplier<BuildWork> graphWork;

    private final VectorSource rows;
    private final Metric metric;
    private final int partitions;
    private final Random random;

    Partitioner(
            BuildWork work,
            Supplier<BuildWork> graphWork,
            VectorSource rows,
            Metric metric,
            int partitions,
            long seed) {
        this.work = work;
        this.graphWork = graphWork;
        this.rows = rows;
        this.metric = metric;
        this.partitions = partitions;
        this.random = new Random(seed);
    }

    /**
     * What it finds.
     *
     * @param centroids the graph of them; their ids are the partitions' numbers
     * @param members the rows of each partition
     */
    record Partitions(HnswGraph centroids, int[][] members) {}

    Partitions run(double boundary) {
        HnswGraph centroids = graph(train());
        int near = Math.min(NEAR, partitions);
        int[] nearest = new int[Math.multiplyExact(rows.size(), near)];
        float[] distances = new float[nearest.length];
        work.run(rows.size(), STEP, (from, to) -> {
            for (int row = from; row < to; row++) {
                work.giveWay();
                Neighbors found = nearest(centroids, vector(row), near);
                for (int i = 0; i < near; i++) {
                    nearest[row * near + i] = (int) found.ids()[i];
                    distances[row * near + i] = found.distances()[i];
                }
            }
        });
        int[][] members = work.once(() -> new BalancedPartitions(
                        rows.size(), partitions, near, nearest, distances, row -> all(centroids, row))
                .assign(SLACK, boundary));
        return new Partitions(centroids, members);
    }

    private int[] all(HnswGraph centroids, int row) {
        return LongStream.of(nearest(centroids, vector(row), partitions).ids())
                .mapToInt(id -> (int) id)
                .toArray();
    }

    /** The numbers of the nearest centroids. */
    static Neighbors nearest(HnswGraph centroids, float[] vector, int count) {
        int width = Math.max(count, Math.min(centroids.rows(), 1_024));
        return centroids
                .search(vector, count, width, IdFilter.all(), IdFilter.all(), Long.MAX_VALUE, OUTSIDE)
                .neighbors();
    }

    private float[] vector(int row) {
        return inSpace(metric, rows.row(row));
    }

    /** A row or query where centroids are compared with it. */
    static float[] inSpace(Metric metric, float[] vector) {
        if (metric != Metric.COSINE) {
            return vector;
        }
        double squares = 0;
        for (float value : vector) {
            squares += (double) value * value;
        }
        float[] scaled = new float[vector.length];
        double length = Math.sqrt(squares);
        for (int d = 0; d < scaled.length; d++) {
            scaled[d] = (float) (vector[d] / length);
        }
        return scaled;
    }

    private float[][] train() {
        int[] sample = random.ints(0, rows.size())
                .distinct()
                .limit(Math.min(rows.size(), (long) partitions * ROWS_PER_CENTROID))
                .toArray();
        float[][] centroids = new float[partitions][];
        for (int i = 0; i < partitions; i++) {
            centroids[i] = vector(sample[i]).clone();
        }
        int[] assigned = new int[sample.length];
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            HnswGraph graph = graph(centroids);
            work.run(sample.length, STEP, (from, to) -> {
                for (int i = from; i < to; i++) {
                    work.giveWay();
                    assigned[i] = (int) nearest(graph, vector(sample[i]), 1).ids()[0];
                }
            });
            centroids = means(sample, assigned);
        }
        return centroids;
    }

    private float[][] means(int[] sample, int[] assigned) {
        double[][] sums = new double[partitions][rows.dimension()];
        int[] counts = new int[partitions];
        for (int i = 0; i < sample.length; i++) {
            work.giveWay();
            float[] vector = vector(sample[i]);
            double[] sum = sums[assigned[i]];
            for (int d = 0; d < sum.length; d++) {
                sum[d] += vector[d];
            }
            counts[assigned[i]]++;
        }
        float[][] means = new float[partitions][rows.dimension()];
        for (int partition = 0; partition < partitions; partition++) {
            if (counts[partition] == 0) {
                // Nobody's nearest: another row may be somebody's.
                means[partition] = vector(sample[random.nextInt(sample.length)]).clone();
                continue;
            }
            for (int d = 0; d < means[partition].length; d++) {
                means[partition][d] = (float) (sums[partition][d] / counts[partition]);
            }
        }
        return means;
    }

    private HnswGraph graph(float[][] centroids) {
        return HnswGraph.build(
                graphWork.get(),
                Metric.SQUARED_L2,
                16,
                100,
                LongStream.range(0, centroids.length).toArray(),
                VectorSource.of(centroids));
    }
}
