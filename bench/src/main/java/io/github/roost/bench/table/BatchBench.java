package io.github.roost.bench.table;

import io.github.roost.bench.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What does a batch of values cost? Values of 1 KB by random keys, fetched into off-heap memory by one thread, beside RocksDB with a block
 * cache of as many bytes as the table takes, and of twice as many, which has room for all values, beside arrays on the heap, Chronicle Map in a JVM of its own, and Redis, by
 * {@code MGET} over loopback, which is another process: a store's price with its network. Stores take turns, ratios are of one round, and all must return the same values.
 */
public final class BatchBench {
    private static final int VALUE_BYTES = BatchWorkload.VALUE_BYTES;

    private static final int WARM_UP_ROUNDS = 2;

    private BatchBench() {}

    /**
     * What one store came to with batches of one size.
     *
     * @param micros per batch, medians of rounds
     * @param ratio of these to those of Roost in the same round
     */
    public record Result(String name, int batch, Samples micros, Samples ratio) {}

    /**
     * What all came to.
     *
     * @param memoryBytes of Roost's index and values, and of RocksDB's block cache
     * @param chronicleBytes of Chronicle Map, off-heap
     * @param hasRedis whether Redis was there to be measured
     * @param growth how much longer the largest batch takes than the smallest, by store, in the order of the results
     */
    public record Report(
            int rows,
            long memoryBytes,
            long chronicleBytes,
            boolean hasRedis,
            List<Result> results,
            List<Growth> growth) {}

    /** How much longer the largest batch takes than the smallest. */
    public record Growth(String name, double factor) {}

    /** Who takes turns. */
    private record Contender(String name, Turn turn) {
        /** Measures one turn. */
        @FunctionalInterface
        interface Turn {
            double medianMicros(int batch) throws IOException;
        }

        static Contender of(BatchStore store, BatchWorkload workload) throws IOException {
            workload.require(store);
            return new Contender(store.name(), batch -> workload.medianMicros(store, batch));
        }
    }

    /**
     * Measures. Redis is left out where it is not installed.
     *
     * @param rows of each store
     * @param batches sizes, ascending
     * @param rounds that count
     */
    public static Report measure(int rows, List<Integer> batches, int rounds) throws IOException {
        BatchWorkload workload = BatchWorkload.of(rows);
        long[] keys = workload.keys();
        int most = batches.getLast();
        Path folder = Files.createTempDirectory("roost-batch-");
        try (BatchStore.OfTable table = new BatchStore.OfTable(
                        Files.createDirectory(folder.resolve("table")), keys, VALUE_BYTES, most);
                BatchStore rocks = new BatchStore.OfRocks(
                        "RocksDB, as much memory",
                        Files.createDirectory(folder.resolve("rocks")),
                        keys,
                        VALUE_BYTES,
                        most,
                        table.memoryBytes());
                BatchStore rocksTwice = new BatchStore.OfRocks(
                        "RocksDB, twice the memory",
                        Files.createDirectory(folder.resolve("rocks-twice")),
                        keys,
                        VALUE_BYTES,
                        most,
                        2 * table.memoryBytes());
                BatchStore heap = new BatchStore.OfHeap(keys, VALUE_BYTES, most);
                ChroniclePeer chronicle = new ChroniclePeer(rows, most);
                BatchStore redis = redis(folder, keys, most)) {
            List<Contender> contenders = new ArrayList<>();
            for (BatchStore store : List.of(table, rocks, rocksTwice, heap)) {
                contenders.add(Contender.of(store, workload));
            }
            contenders.add(new Contender(chronicle.name(), chronicle::medianMicros));
            if (redis != null) {
                contenders.add(Contender.of(redis, workload));
            }
            List<Result> results = new ArrayList<>();
            for (int batch : batches) {
                results.addAll(inTurns(contenders, batch, rounds));
            }
            return new Report(
                    rows,
                    table.memoryBytes(),
                    chronicle.memoryBytes(),
                    redis != null,
                    results,
                    growth(results, contenders.size()));
        } finally {
            delete(folder);
        }
    }

    private static @Nullable BatchStore redis(Path folder, long[] keys, int most) throws IOException {
        Path program = LocalRedis.program().orElse(null);
        return program == null ? null : new RedisStore(program, folder.resolve("redis"), keys, VALUE_BYTES, most);
    }

    private static List<Growth> growth(List<Result> results, int stores) {
        List<Growth> growth = new ArrayList<>();
        for (int i = 0; i < stores; i++) {
            Result last = results.get(results.size() - stores + i);
            growth.add(new Growth(
                    last.name(),
                    last.micros().median() / results.get(i).micros().median()));
        }
        return growth;
    }

    private static List<Result> inTurns(List<Contender> stores, int batch, int rounds) throws IOException {
        List<List<Double>> micros = new ArrayList<>();
        List<List<Double>> ratios = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            micros.add(new ArrayList<>());
            ratios.add(new ArrayList<>());
        }
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            double first = 0;
            for (int i = 0; i < stores.size(); i++) {
                double median = stores.get(i).turn().medianMicros(batch);
                first = i == 0 ? median : first;
                if (round >= 0) {
                    micros.get(i).add(median);
                    ratios.get(i).add(median / first);
                }
            }
        }
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            results.add(new Result(stores.get(i).name(), batch, Samples.of(micros.get(i)), Samples.of(ratios.get(i))));
        }
        return results;
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
