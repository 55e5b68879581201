package io.github.roost.bench.table;

import io.github.roost.bench.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * What does a batch of values cost? Values of 1 KB by random keys, fetched into off-heap memory by one thread, beside RocksDB with a block
 * cache of as many bytes as the table takes, and of twice as many, which has room for all values, and beside arrays on the heap. Stores take turns, ratios are of one round, and
 * all must return the same values.
 */
public final class BatchBench {
    /** Bytes of a value: the paper's. */
    private static final int VALUE_BYTES = 1_024;
    /** Keys of each turn, whatever the size of its batches. */
    private static final int WANTED = 50_000;

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
     * @param growth how much longer the largest batch takes than the smallest, by store, in the order of the results
     */
    public record Report(int rows, long memoryBytes, List<Result> results, List<Growth> growth) {}

    /** How much longer the largest batch takes than the smallest. */
    public record Growth(String name, double factor) {}

    /**
     * Measures.
     *
     * @param rows of each store
     * @param batches sizes, ascending
     * @param rounds that count
     */
    public static Report measure(int rows, List<Integer> batches, int rounds) throws IOException {
        SplittableRandom random = new SplittableRandom(28);
        long[] keys = random.longs().distinct().limit(rows).toArray();
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
                BatchStore heap = new BatchStore.OfHeap(keys, VALUE_BYTES, most)) {
            List<BatchStore> stores = List.of(table, rocks, rocksTwice, heap);
            for (BatchStore store : stores) {
                for (int i = 0; i < rows; i++) {
                    if (store.fetch(keys, i, 1) != keys[i]) {
                        throw new IllegalStateException(store.name() + " has another value of key " + keys[i]);
                    }
                }
            }
            long[] wanted = new long[WANTED];
            for (int i = 0; i < WANTED; i++) {
                wanted[i] = keys[random.nextInt(rows)];
            }
            List<Result> results = new ArrayList<>();
            for (int batch : batches) {
                results.addAll(inTurns(stores, wanted, batch, rounds));
            }
            return new Report(rows, table.memoryBytes(), results, growth(results, stores.size()));
        } finally {
            delete(folder);
        }
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

    private static List<Result> inTurns(List<BatchStore> stores, long[] wanted, int batch, int rounds)
            throws IOException {
        List<List<Double>> micros = new ArrayList<>();
        List<List<Double>> ratios = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            micros.add(new ArrayList<>());
            ratios.add(new ArrayList<>());
        }
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            double first = 0;
            for (int i = 0; i < stores.size(); i++) {
                double median = medianMicros(stores.get(i), wanted, batch);
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

    private static double medianMicros(BatchStore store, long[] wanted, int batch) throws IOException {
        double[] micros = new double[wanted.length / batch];
        for (int i = 0; i < micros.length; i++) {
            long begin = System.nanoTime();
            long sum = store.fetch(wanted, i * batch, batch);
            micros[i] = (System.nanoTime() - begin) / 1e3;
            if (sum == 42) {
                throw new IllegalStateException("a sum that cannot be");
            }
        }
        Arrays.sort(micros);
        return micros[micros.length / 2];
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
