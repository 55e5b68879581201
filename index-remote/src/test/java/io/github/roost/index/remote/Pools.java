package io.github.roost.index.remote;

import io.github.roost.core.Metric;
import io.github.roost.core.Neighbors;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.core.vector.VectorSource;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.LongStream;

/** Rows, pools of them, and exact answers. */
final class Pools {
    static final int DIMENSION = 16;

    private Pools() {}

    static Orchestrator orchestrator() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                .build();
    }

    /** Rows around a few centres, as embeddings lie. */
    static float[][] rows(int count, long seed) {
        Random random = new Random(seed);
        float[][] centres = new float[40][DIMENSION];
        Random fixed = new Random(7);
        for (float[] centre : centres) {
            for (int d = 0; d < DIMENSION; d++) {
                centre[d] = (float) fixed.nextGaussian() * 2;
            }
        }
        float[][] rows = new float[count][DIMENSION];
        for (float[] row : rows) {
            float[] centre = centres[random.nextInt(centres.length)];
            for (int d = 0; d < DIMENSION; d++) {
                row[d] = centre[d] + (float) random.nextGaussian();
            }
        }
        return rows;
    }

    static PartitionedIndex.Pool build(Orchestrator orchestrator, PartitionedIndex index, float[][] rows, Path file)
            throws IOException {
        return index.build(
                orchestrator,
                LongStream.range(0, rows.length).map(row -> row * 2).toArray(),
                VectorSource.of(rows),
                file);
    }

    /** By looking at all rows; ids as {@link #build} gives them. */
    static Neighbors exact(float[][] rows, float[] query, int k, Metric metric) {
        long[] ids = new long[rows.length];
        float[] distances = new float[rows.length];
        for (int i = 0; i < rows.length; i++) {
            ids[i] = 2L * i;
            distances[i] = distance(rows[i], query, metric);
        }
        Neighbors all = Neighbors.sorted(ids, distances);
        return new Neighbors(java.util.Arrays.copyOf(all.ids(), k), java.util.Arrays.copyOf(all.distances(), k));
    }

    static float distance(float[] a, float[] b, Metric metric) {
        double squares = 0;
        double product = 0;
        double aa = 0;
        double bb = 0;
        for (int d = 0; d < a.length; d++) {
            squares += ((double) a[d] - b[d]) * (a[d] - b[d]);
            product += (double) a[d] * b[d];
            aa += (double) a[d] * a[d];
            bb += (double) b[d] * b[d];
        }
        return metric == Metric.COSINE ? (float) (1 - product / Math.sqrt(aa * bb)) : (float) squares;
    }
}
