package io.github.roost.index.remote;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.index.remote.format.Directory;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.VectorSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;

/** Rows, pools of them, and exact answers. */
public final class Pools {
    static final int DIMENSION = 16;

    private Pools() {}

    public static Orchestrator orchestrator() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .overloadPolicy(OverloadPolicy.block(Duration.ofSeconds(60)))
                .build();
    }

    /** Rows around a few centers, as embeddings lie. */
    public static float[][] rows(int count, long seed) {
        Random random = new Random(seed);
        float[][] centers = new float[40][DIMENSION];
        Random fixed = new Random(7);
        for (float[] center : centers) {
            for (int d = 0; d < DIMENSION; d++) {
                center[d] = (float) fixed.nextGaussian() * 2;
            }
        }
        float[][] rows = new float[count][DIMENSION];
        for (float[] row : rows) {
            float[] center = centers[random.nextInt(centers.length)];
            for (int d = 0; d < DIMENSION; d++) {
                row[d] = center[d] + (float) random.nextGaussian();
            }
        }
        return rows;
    }

    public static PartitionedIndex.Pool build(
            Orchestrator orchestrator, PartitionedIndex index, float[][] rows, Path file) throws IOException {
        return index.build(
                orchestrator,
                LongStream.range(0, rows.length).map(row -> row * 2).toArray(),
                VectorSource.of(rows),
                file);
    }

    /** Of 300 rows, with room for changes, and a lease that a test may wait for. */
    public static void buildSmall(Orchestrator orchestrator, int partitions, Path file) throws IOException {
        PartitionedIndex index = PartitionedIndex.builder()
                .partitions(partitions)
                .gap(.5)
                .spare(4)
                .lease(Duration.ofMillis(60));
        build(orchestrator, index, rows(300, 1), file);
    }

    /** The directory of a pool's epoch. */
    static Directory directory(Path file) throws IOException {
        Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
        try (OpenPool pool = OpenPool.open(
                RemoteMemory.mapped(folder).open(file.getFileName().toString()), Duration.ofSeconds(5))) {
            return pool.directory();
        }
    }

    /** What the partitions of a pool take, without their logs. */
    public static long partitionBytes(Path file) throws IOException {
        return directory(file).partitions().stream()
                .mapToLong(Directory.Place::bytes)
                .sum();
    }

    /** By looking at all rows; ids as {@link #build} gives them. */
    static SearchResult exact(float[][] rows, float[] query, int k, Metric metric) {
        SearchResult nearest = ExactSearch.exact(rows, query, k, metric);
        return new SearchResult(LongStream.of(nearest.ids()).map(row -> row * 2).toArray(), nearest.distances());
    }
}
