package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.vector.SearchRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;

/** Tables on a simulated device, of rows whose ids are their numbers. */
abstract class OnDevice {
    static final int K = 10;
    private static final Path FILE = Path.of("/no/such/folder/table");

    final Orchestrator orchestrator = Orchestrator.builder().build();
    private FaultDevice device = new FaultDevice(1);
    private BlockIo io = device.io(orchestrator, 256);

    @AfterEach
    void close() {
        io.close();
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
    }

    /** What the tables are on. */
    FaultDevice device() {
        return device;
    }

    MutableDiskTable build(float[]... rows) throws IOException {
        device = new FaultDevice(1);
        io.close();
        io = device.io(orchestrator, 256);
        DiskTable.builder()
                .build(orchestrator, io, FILE, LongStream.range(0, rows.length).toArray(), rows);
        return open();
    }

    MutableDiskTable open() throws IOException {
        return DiskTable.open(orchestrator, io, "table", FILE);
    }

    /** Opens the table after a loss of power. */
    MutableDiskTable openAfterPowerLoss(long seed) throws IOException {
        io.close();
        device = device.afterPowerLoss(seed);
        io = device.io(orchestrator, 256);
        return open();
    }

    static float[][] gaussian(int count, int dimension, long seed) {
        Random random = new Random(seed);
        float[][] rows = new float[count][dimension];
        for (float[] row : rows) {
            for (int i = 0; i < dimension; i++) {
                row[i] = (float) random.nextGaussian();
            }
        }
        return rows;
    }

    static void putAll(MutableDiskTable table, float[][] rows, int from, int to) {
        List<CompletableFuture<Boolean>> puts = new ArrayList<>();
        for (int row = from; row < to; row++) {
            puts.add(table.putLater(row, rows[row]));
        }
        puts.forEach(CompletableFuture::join);
    }

    static void removeAll(MutableDiskTable table, int from, int to) {
        List<CompletableFuture<Boolean>> removals = new ArrayList<>();
        for (int row = from; row < to; row++) {
            removals.add(table.removeLater(row));
        }
        removals.forEach(CompletableFuture::join);
    }

    /** A vector near a row. */
    static float[] near(float[] row, float by, Random random) {
        float[] query = row.clone();
        for (int i = 0; i < query.length; i++) {
            query[i] += by * (float) random.nextGaussian();
        }
        return query;
    }

    /** The k nearest of some rows, by double arithmetic. */
    static long[] nearest(float[][] rows, float[] query, int k, IntPredicate allowed) {
        double[] distances =
                Arrays.stream(rows).mapToDouble(row -> distance(row, query)).toArray();
        return IntStream.range(0, rows.length)
                .filter(allowed)
                .boxed()
                .sorted(Comparator.comparingDouble(row -> distances[row]))
                .limit(k)
                .mapToLong(Integer::longValue)
                .toArray();
    }

    static double distance(float[] one, float[] two) {
        double sum = 0;
        for (int i = 0; i < one.length; i++) {
            double difference = (double) one[i] - two[i];
            sum += difference * difference;
        }
        return sum;
    }

    /** Recall of the k nearest of all rows at the default width, of queries near rows. */
    static double recall(DiskTable table, float[][] rows, float by, int queries) {
        Random random = new Random(77);
        double sum = 0;
        for (int i = 0; i < queries; i++) {
            float[] query = near(rows[random.nextInt(rows.length)], by, random);
            long[] found = table.search(SearchRequest.of(query, K)).join().ids();
            sum += Rows.recall(found, nearest(rows, query, K, row -> true));
        }
        return sum / queries;
    }

    /** Number of found rows that equal the query. */
    static long equal(DiskTable table, float[] query, int k) {
        float[] distances = table.search(SearchRequest.of(query, k)).join().distances();
        assertThat(distances).hasSize(Math.min(k, table.size()));
        return IntStream.range(0, distances.length)
                .filter(i -> distances[i] == 0)
                .count();
    }
}
