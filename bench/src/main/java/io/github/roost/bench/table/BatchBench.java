package io.github.roost.bench.table;

import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Question: what does a batch of values cost? Values of 1 KB by random keys, fetched into off-heap memory by one thread. Compared with RocksDB with
 * a block cache as large as the table and with one twice as large, which holds all values; with arrays on the heap; with Chronicle Map in its own
 * JVM; and with Redis, by {@code MGET} over loopback, which includes the cost of another process and the network. Stores alternate, ratios are
 * within one round, and all stores must return the same values.
 */
@Command(
        name = "batch",
        description = "Batches of values of 1 KB from a Table, compared with RocksDB with the same memory, heap arrays,"
                + " Chronicle Map, and Redis if it is installed.")
public final class BatchBench implements Callable<Integer> {
    private static final int VALUE_BYTES = BatchWorkload.VALUE_BYTES;

    private static final int WARM_UP_ROUNDS = 2;

    static final String WITHOUT_REDIS = "Redis is not installed and left out (apt-get install redis-server)";

    private final @Mixin StoreOptions stores = new StoreOptions();

    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        stores.check();
        Report report = measure(stores.rows.value(), stores.batches(), stores.rounds.value());
        output.format(
                "%,d values of 1 KB, %,d MiB for each store, %,d MiB for Chronicle Map, one thread",
                report.rows(), report.memoryBytes() >> 20, report.chronicleBytes() >> 20);
        if (!report.hasRedis()) {
            output.line(WITHOUT_REDIS);
        }
        output.line("keys  store                            us per batch   ratio to Table: median (min to max)");
        for (Result result : report.results()) {
            output.format(
                    "%4d  %-30s %14.1f   %s",
                    result.batch(),
                    result.name(),
                    result.micros().median(),
                    result.ratio().spread("%.2f"));
        }
        for (Growth growth : report.growth()) {
            output.format(
                    "%-36s %14.1f   times longer for the largest batch than for the smallest",
                    growth.name(), growth.factor());
        }
        output.print(Map.of("batches", report));
        return 0;
    }

    /**
     * The result of one store with batches of one size.
     *
     * @param name of the store
     * @param batch keys per batch
     * @param micros per batch, medians of the rounds
     * @param ratio of micros to Roost's in the same round
     */
    public record Result(String name, int batch, Samples micros, Samples ratio) {}

    /**
     * The results of all stores.
     *
     * @param rows of each store
     * @param memoryBytes of Roost's index and values, and of RocksDB's smaller block cache
     * @param chronicleBytes of Chronicle Map, off-heap
     * @param hasRedis whether Redis was installed and measured
     * @param results by batch size, then by store
     * @param growth time of the largest batch over the smallest, by store, in the order of the results
     */
    public record Report(
            int rows,
            long memoryBytes,
            long chronicleBytes,
            boolean hasRedis,
            List<Result> results,
            List<Growth> growth) {}

    /** The time of the largest batch over the time of the smallest. */
    public record Growth(String name, double factor) {}

    /** A store that is measured. */
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
     * Measures all stores; leaves Redis out if it is not installed.
     *
     * @param rows of each store
     * @param batches sizes, ascending
     * @param rounds measured rounds
     */
    public static Report measure(int rows, List<Integer> batches, int rounds) throws IOException {
        BatchWorkload workload = BatchWorkload.of(rows);
        long[] keys = workload.keys();
        int max = batches.getLast();
        try (TemporaryFolder folder = new TemporaryFolder("roost-batch-");
                BatchStore.OfTable table =
                        new BatchStore.OfTable(Files.createDirectory(folder.resolve("table")), keys, VALUE_BYTES, max);
                BatchStore rocks = new BatchStore.OfRocks(
                        "RocksDB, as much memory",
                        Files.createDirectory(folder.resolve("rocks")),
                        keys,
                        VALUE_BYTES,
                        max,
                        table.memoryBytes());
                BatchStore rocksTwice = new BatchStore.OfRocks(
                        "RocksDB, twice the memory",
                        Files.createDirectory(folder.resolve("rocks-twice")),
                        keys,
                        VALUE_BYTES,
                        max,
                        2 * table.memoryBytes());
                BatchStore heap = new BatchStore.OfHeap(keys, VALUE_BYTES, max);
                ChroniclePeer chronicle = new ChroniclePeer(rows, max);
                BatchStore redis = RedisStore.ofInstalled(folder, keys, VALUE_BYTES, max)) {
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
}
