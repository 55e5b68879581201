package io.github.roost.index.disk;

import io.github.roost.index.disk.format.DiskGraph;
import io.github.roost.index.disk.format.DiskLayout;
import io.github.roost.index.disk.format.ProductCodes;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.vector.Metric;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Made-up vectors in clusters, and exact search over them. */
public record Rows(Metric metric, float[][] vectors) {
    public static Rows clustered(Metric metric, int count, int dimension, long seed) {
        Random random = new Random(seed);
        float[][] centers = new float[Math.max(1, count / 100)][dimension];
        for (float[] center : centers) {
            for (int i = 0; i < dimension; i++) {
                center[i] = (float) random.nextGaussian();
            }
        }
        float[][] vectors = new float[count][dimension];
        for (float[] vector : vectors) {
            float[] center = centers[random.nextInt(centers.length)];
            for (int i = 0; i < dimension; i++) {
                vector[i] = center[i] + .4f * (float) random.nextGaussian();
            }
        }
        return new Rows(metric, vectors);
    }

    /** A vector near some row. */
    float[] query(long seed) {
        Random random = new Random(seed);
        float[] query = vectors[random.nextInt(vectors.length)].clone();
        for (int i = 0; i < query.length; i++) {
            query[i] += .2f * (float) random.nextGaussian();
        }
        return query;
    }

    /** Ids that differ from row numbers, and give them back. */
    public long[] ids() {
        return IntStream.range(0, vectors.length).mapToLong(Rows::id).toArray();
    }

    public static long id(int row) {
        return 1_000_000_007L * (row + 1);
    }

    public static int row(long id) {
        return (int) (id / 1_000_000_007L) - 1;
    }

    double distance(float[] query, int row) {
        return ExactSearch.distance(query, vectors[row], metric);
    }

    /** Ids of the true k nearest. */
    long[] nearest(float[] query, int k, IntPredicate allowed) {
        int[] rows = IntStream.range(0, vectors.length).filter(allowed).toArray();
        double[] distances =
                Arrays.stream(rows).mapToDouble(row -> distance(query, row)).toArray();
        return IntStream.range(0, rows.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> distances[i]))
                .limit(k)
                .mapToLong(i -> id(rows[i]))
                .toArray();
    }

    static double recall(long[] found, long[] truth) {
        long[] sorted = found.clone();
        Arrays.sort(sorted);
        return Arrays.stream(truth)
                        .filter(id -> Arrays.binarySearch(sorted, id) >= 0)
                        .count()
                / (double) truth.length;
    }

    /** The graph that the searches and updates of a table share. */
    public static DiskGraph graph(DiskTable table) {
        return table.graph();
    }

    /** The ids on a page of a table. */
    static Set<Long> onPage(DiskTable table, int page) {
        DiskLayout layout = graph(table).layout();
        ProductCodes codes = graph(table).codes();
        int first = layout.firstNode(page);
        return IntStream.range(first, Math.min(first + layout.nodesPerPage(), codes.nodes()))
                .mapToObj(codes::id)
                .collect(Collectors.toSet());
    }
}
