package io.github.roost.bench.table;

import io.github.roost.core.Orchestrator;
import io.github.roost.io.BlockIo;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.workload.Zipf;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Question: what does a batch of values cost if only a tenth of the values fits in memory? Values of 1 KB, keys by Zipf's law with exponent .99, one
 * request at a time. Three stores: a search of {@code Table.fetch}, which parks for its reads; a {@code Table.Reader}, which blocks; and RocksDB
 * with direct reads and a block cache as large as the table's index and value memory, which also holds RocksDB's index and filters. Stores alternate
 * and get the same keys; all must return the right values. Before it is measured each store serves as many keys as it has rows, so that frequent
 * keys are in memory.
 */
public final class ColdBench {
    private static final int VALUE_BYTES = 1_024;
    private static final double EXPONENT = .99;
    private static final double P99 = .99;

    private ColdBench() {}

    /**
     * The result of one store with batches of one size.
     *
     * @param name of the store
     * @param batch keys per batch
     * @param bytesPerRow of memory
     * @param blocksPerBatch blocks of 4 KiB read, mean over all rounds; 0 for RocksDB, where it is unknown
     * @param readsPerBatch device reads for these blocks, as counted by block I/O; 0 for blocking reads and for RocksDB
     * @param hitShare share of values (Roost) or data blocks (RocksDB) found in memory, per round
     * @param p50Micros per batch, per round
     * @param p99Micros per batch, per round
     * @param ratio of the median batch to the first store's in the same round
     */
    public record Result(
            String name,
            int batch,
            double bytesPerRow,
            double blocksPerBatch,
            double readsPerBatch,
            Samples hitShare,
            Samples p50Micros,
            Samples p99Micros,
            Samples ratio) {}

    /**
     * The results of all stores.
     *
     * @param rows of each store
     * @param valueMemory bytes of memory for the table's values
     * @param backend of the table's reads
     * @param results by batch size, then by store
     */
    public record Report(int rows, long valueMemory, String backend, List<Result> results) {}

    /** One store's figures per round. */
    private static final class Rounds {
        final List<Double> hits = new ArrayList<>();
        long blocks;
        long reads;
        long batches;
        final List<Double> p50 = new ArrayList<>();
        final List<Double> p99 = new ArrayList<>();
        final List<Double> ratios = new ArrayList<>();
    }

    /**
     * Measures all stores.
     *
     * @param rows of each store
     * @param batches sizes
     * @param rounds measured rounds
     * @param wanted keys per turn
     */
    public static Report measure(int rows, List<Integer> batches, int rounds, int wanted) throws IOException {
        SplittableRandom random = new SplittableRandom(28);
        long[] keys = random.longs().distinct().limit(rows).toArray();
        // Rows are stored in the order of random keys, so that their location is independent of their popularity.
        long[] sorted = keys.clone();
        Arrays.sort(sorted);
        int max = batches.stream().mapToInt(Integer::intValue).max().orElseThrow();
        long valueMemory = rows * (long) VALUE_BYTES / 10;
        try (TemporaryFolder folder = new TemporaryFolder("roost-cold-");
                Orchestrator orchestrator =
                        Orchestrator.builder().recallShare(0).build();
                BlockIo io = BlockIo.builder(orchestrator).build();
                ColdStore search = new ColdStore.OfSearch(
                        Files.createDirectory(folder.resolve("search")),
                        sorted,
                        VALUE_BYTES,
                        valueMemory,
                        orchestrator,
                        io);
                ColdStore reader = new ColdStore.OfReader(
                        Files.createDirectory(folder.resolve("reader")),
                        sorted,
                        VALUE_BYTES,
                        valueMemory,
                        orchestrator,
                        io);
                ColdStore rocks = new ColdStore.OfRocks(
                        Files.createDirectory(folder.resolve("rocks")), keys, VALUE_BYTES, max, search.memoryBytes())) {
            List<ColdStore> stores = List.of(search, reader, rocks);
            Zipf zipf = new Zipf(rows, EXPONENT);
            List<Result> results = new ArrayList<>();
            for (ColdStore store : stores) {
                serve(store, keys(zipf, keys, rows, random), max);
            }
            for (int batch : batches) {
                results.addAll(inTurns(stores, zipf, keys, batch, rounds, wanted, random));
            }
            return new Report(rows, valueMemory, io.stats().backend(), results);
        }
    }

    private static long[] keys(Zipf zipf, long[] keys, int count, SplittableRandom random) {
        long[] wanted = new long[count];
        for (int i = 0; i < count; i++) {
            wanted[i] = keys[zipf.rank(random.nextDouble())];
        }
        return wanted;
    }

    private static List<Result> inTurns(
            List<ColdStore> stores, Zipf zipf, long[] keys, int batch, int rounds, int count, SplittableRandom random)
            throws IOException {
        List<Rounds> figures = stores.stream().map(store -> new Rounds()).toList();
        for (int round = 0; round < rounds; round++) {
            // All stores get the same keys, and have served the same number of batches.
            long[] wanted = keys(zipf, keys, Math.max(batch, count / batch * batch), random);
            double first = 0;
            for (int i = 0; i < stores.size(); i++) {
                ColdStore store = stores.get(i);
                ColdStore.Touched before = store.touched();
                double[] micros = serve(store, wanted, batch);
                ColdStore.Touched after = store.touched();
                Arrays.sort(micros);
                double median = micros[micros.length / 2];
                first = i == 0 ? median : first;
                Rounds of = figures.get(i);
                of.blocks += after.blocks() - before.blocks();
                of.reads += after.reads() - before.reads();
                of.batches += micros.length;
                of.hits.add((after.hits() - before.hits()) / (double) Math.max(1, after.all() - before.all()));
                of.p50.add(median);
                of.p99.add(micros[(int) (micros.length * P99)]);
                of.ratios.add(median / first);
            }
        }
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            Rounds of = figures.get(i);
            results.add(new Result(
                    stores.get(i).name(),
                    batch,
                    stores.get(i).memoryBytes() / (double) keys.length,
                    of.blocks / (double) of.batches,
                    of.reads / (double) of.batches,
                    Samples.of(of.hits),
                    Samples.of(of.p50),
                    Samples.of(of.p99),
                    Samples.of(of.ratios)));
        }
        return results;
    }

    /** Fetches all batches and checks the values; returns the microseconds of each batch. */
    private static double[] serve(ColdStore store, long[] wanted, int batch) throws IOException {
        double[] micros = new double[wanted.length / batch];
        for (int i = 0; i < micros.length; i++) {
            long expected = 0;
            for (int key = i * batch; key < (i + 1) * batch; key++) {
                expected += wanted[key];
            }
            long begin = System.nanoTime();
            long sum = store.fetch(wanted, i * batch, batch);
            micros[i] = (System.nanoTime() - begin) / 1e3;
            if (sum != expected) {
                throw new IllegalStateException(store.name() + " has other values of batch " + i);
            }
        }
        return micros;
    }
}
