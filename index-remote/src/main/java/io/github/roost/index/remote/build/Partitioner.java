package io.github.roost.index.remote.build;

import io.github.roost.index.hnsw.graph.Graph;
import io.github.roost.index.remote.format.RowDistance;
import io.github.roost.index.remote.pool.Centroids;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.math.KMeans;
import io.github.roost.vector.math.ListsToVisit;
import io.github.roost.vector.spi.BuildWork;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Finds centroids by {@link KMeans} on a sample, with an upper bound on the size of each partition, then assigns all rows. Nearest centroids are
 * found by a graph of the centroids, as in searches. Used once.
 */
public final class Partitioner {
    private static final int STEP = 256;
    /** Nearest partitions computed per row; further ones are computed only if all of these are full. */
    private static final int NEAR = 8;

    private static final double SLACK = .1;

    private final BuildWork work;
    /** The work of a graph's build, which has phases of its own. */
    private final Supplier<BuildWork> graphWork;

    private final VectorSource rows;
    private final Metric metric;
    private final int partitions;
    private final Random random;
    /** Rows excluded from the training of centroids, in ascending order. */
    private final int[] heldOut;

    /**
     * @param heldOut rows excluded from the training of centroids, each once; they are assigned to partitions like others. At least as many rows
     *     as partitions must be left
     */
    public Partitioner(
            BuildWork work,
            Supplier<BuildWork> graphWork,
            VectorSource rows,
            Metric metric,
            int partitions,
            long seed,
            int[] heldOut) {
        this.heldOut = heldOut.clone();
        Arrays.sort(this.heldOut);
        this.work = work;
        this.graphWork = graphWork;
        this.rows = rows;
        this.metric = metric;
        this.partitions = partitions;
        this.random = new Random(seed);
    }

    /**
     * The centroids and the assignment of rows.
     *
     * @param centroids a graph of the centroids; their ids are the partitions' numbers
     * @param members the rows of each partition
     * @param excess per partition, how much farther, in squared distance, one of its rows is from its centroid than from the nearest; of a row in
     *     two partitions, in the nearer one
     */
    public record Partitions(Graph centroids, int[][] members, float[] excess) {}

    public Partitions run(double boundary) {
        float[][] trained = train();
        int[][] members = assign(graph(trained), rows.size(), this::vector, boundary);
        // Searches use the means of the rows that were assigned in the end.
        float[][] means = new KMeans(work, this::vector).means(members, trained);
        Graph centroids = graph(means);
        return new Partitions(centroids, members, excess(centroids, means, members));
    }

    private float[] excess(Graph centroids, float[][] means, int[][] members) {
        int[] first = new int[rows.size()];
        int[] second = new int[rows.size()];
        Arrays.fill(first, -1);
        Arrays.fill(second, -1);
        for (int partition = 0; partition < members.length; partition++) {
            for (int row : members[partition]) {
                (first[row] < 0 ? first : second)[row] = partition;
            }
        }
        float[] excess = new float[members.length];
        work.run(rows.size(), STEP, (from, to) -> {
            for (int row = from; row < to; row++) {
                work.yieldToSearches();
                float[] vector = vector(row);
                double own = squared(vector, means[first[row]]);
                double other = second[row] < 0 ? Double.POSITIVE_INFINITY : squared(vector, means[second[row]]);
                double here = Math.min(own, other) * (1 + ListsToVisit.ROUNDING);
                float more =
                        (float) (here - Centroids.nearest(centroids, vector, 1).distances()[0]);
                int partition = own <= other ? first[row] : second[row];
                synchronized (excess) {
                    excess[partition] = Math.max(excess[partition], more);
                }
            }
        });
        return excess;
    }

    private static double squared(float[] vector, float[] other) {
        double sum = 0;
        for (int d = 0; d < vector.length; d++) {
            double difference = vector[d] - other[d];
            sum += difference * difference;
        }
        return sum;
    }

    /** Assigns a subset of the rows, numbered from 0, to partitions of nearly equal size. */
    private int[][] assign(Graph centroids, int count, IntFunction<float[]> vectors, double boundary) {
        int near = Math.min(NEAR, partitions);
        int[] nearest = new int[Math.multiplyExact(count, near)];
        float[] distances = new float[nearest.length];
        work.run(count, STEP, (from, to) -> {
            for (int number = from; number < to; number++) {
                work.yieldToSearches();
                SearchResult found = Centroids.nearest(centroids, vectors.apply(number), near);
                for (int i = 0; i < near; i++) {
                    nearest[number * near + i] = (int) found.ids()[i];
                    distances[number * near + i] = found.distances()[i];
                }
            }
        });
        return work.once(() -> new BalancedPartitions(
                        count, partitions, near, nearest, distances, number -> all(centroids, vectors.apply(number)))
                .assign(SLACK, boundary));
    }

    private int[] all(Graph centroids, float[] vector) {
        return LongStream.of(Centroids.nearest(centroids, vector, partitions).ids())
                .mapToInt(id -> (int) id)
                .toArray();
    }

    private float[] vector(int row) {
        return RowDistance.inSpace(metric, rows.row(row));
    }

    private float[][] train() {
        int trainable = rows.size() - heldOut.length;
        int[] sample = random.ints(0, rows.size())
                .filter(row -> Arrays.binarySearch(heldOut, row) < 0)
                .distinct()
                .limit(Math.min(trainable, (long) partitions * KMeans.ROWS_PER_CENTROID))
                .toArray();
        IntFunction<float[]> sampled = number -> vector(sample[number]);
        return new KMeans(work, sampled).train(partitions, centroids -> {
            int[] nearest = new int[sample.length];
            int[][] members = assign(graph(centroids), sample.length, sampled, 0);
            for (int partition = 0; partition < partitions; partition++) {
                for (int number : members[partition]) {
                    nearest[number] = partition;
                }
            }
            return nearest;
        });
    }

    private Graph graph(float[][] centroids) {
        return Graph.build(
                graphWork.get(),
                Metric.SQUARED_L2,
                16,
                100,
                LongStream.range(0, centroids.length).toArray(),
                VectorSource.of(centroids));
    }
}
