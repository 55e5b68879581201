package io.github.roost.bench.table;

import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.testkit.TemporaryFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Question: what does a batch of values cost over the network? Compares the table service and RocksDB, each behind gRPC on a loopback address, and
 * Redis if it is installed; also the table service with compressed answers, whose random values do not get smaller. Each has one server and one connection, used by one thread that waits for each answer. RocksDB has a block cache for all
 * values. Stores alternate, ratios are within one round, and all stores must return the same values.
 */
@Command(
        name = "service",
        description =
                "Batches of values of 1 KB over loopback from the table service, compared with RocksDB behind gRPC,"
                        + " and Redis if it is installed.")
public final class ServiceBench implements Callable<Integer> {
    private static final int VALUE_BYTES = 1_024;
    private static final int SHARDS = 4;
    /** Keys per turn, whatever the batch size. */
    private static final int KEYS_PER_TURN = 50_000;

    private static final int WARM_UP_ROUNDS = 2;

    private final @Mixin StoreOptions stores = new StoreOptions();
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        stores.check();
        List<Result> results = measure(stores.rows.value(), stores.batches(), KEYS_PER_TURN, stores.rounds.value());
        output.format("%,d values of 1 KB, one connection, one thread that waits for each answer", stores.rows.value());
        if (!hasRedis()) {
            output.line(BatchBench.WITHOUT_REDIS);
        }
        output.line("keys  store                  batches/s   P50 us   P99 us   P50 over the table service's");
        for (Result result : results) {
            output.format(
                    "%4d  %-20s %11.0f %8.0f %8.0f   %s",
                    result.batch(),
                    result.name(),
                    result.batchesPerSecond().median(),
                    result.p50Micros().median(),
                    result.p99Micros().median(),
                    result.ratio().spread("%.2f"));
        }
        output.print(Map.of("service", results));
        return 0;
    }

    /**
     * The result of one store with batches of one size.
     *
     * @param name of the store
     * @param batch keys per batch
     * @param batchesPerSecond one after the other
     * @param p50Micros of a batch
     * @param p99Micros of a batch
     * @param ratio of p50 to the table service's in the same round
     */
    public record Result(
            String name, int batch, Samples batchesPerSecond, Samples p50Micros, Samples p99Micros, Samples ratio) {}

    /** The result of one turn. */
    private record Turn(double perSecond, double p50, double p99) {}

    /**
     * Measures all stores.
     *
     * @param rows of each store
     * @param batches sizes, ascending
     * @param keysPerTurn keys fetched from one store before it is another one's turn
     * @param rounds measured rounds
     */
    static List<Result> measure(int rows, List<Integer> batches, int keysPerTurn, int rounds) throws IOException {
        SplittableRandom random = new SplittableRandom(28);
        long[] keys = random.longs().distinct().limit(rows).toArray();
        try (TemporaryFolder folder = new TemporaryFolder("roost-service-");
                ServedStore.OfTableService table = new ServedStore.OfTableService(
                        Files.createDirectory(folder.resolve("table")), keys, VALUE_BYTES, SHARDS);
                BatchStore compressed = table.compressed();
                BatchStore rocks = new ServedStore.OfRocksService(
                        new BatchStore.OfRocks(
                                "RocksDB behind gRPC",
                                Files.createDirectory(folder.resolve("rocks")),
                                keys,
                                VALUE_BYTES,
                                batches.getLast(),
                                4L * rows * VALUE_BYTES),
                        VALUE_BYTES);
                BatchStore redis = RedisStore.ofInstalled(folder, keys, VALUE_BYTES, batches.getLast())) {
            List<BatchStore> stores =
                    redis == null ? List.of(table, compressed, rocks) : List.of(table, compressed, rocks, redis);
            requireSame(stores, keys, batches.getFirst());
            long[] wanted = new long[keysPerTurn];
            Arrays.setAll(wanted, i -> keys[random.nextInt(rows)]);
            List<Result> results = new ArrayList<>();
            for (int batch : batches) {
                results.addAll(inTurns(stores, wanted, batch, rounds));
            }
            return results;
        }
    }

    /** Whether Redis is installed. */
    static boolean hasRedis() {
        return LocalRedis.program().isPresent();
    }

    private static void requireSame(List<BatchStore> stores, long[] keys, int batch) throws IOException {
        for (int begin = 0; begin + batch <= keys.length; begin += batch) {
            long expected = 0;
            for (int i = begin; i < begin + batch; i++) {
                expected += keys[i];
            }
            for (BatchStore store : stores) {
                if (store.fetch(keys, begin, batch) != expected) {
                    throw new IllegalStateException(store.name() + " has another value of a key after " + keys[begin]);
                }
            }
        }
    }

    private static List<Result> inTurns(List<BatchStore> stores, long[] wanted, int batch, int rounds)
            throws IOException {
        List<List<Turn>> turns = new ArrayList<>();
        stores.forEach(store -> turns.add(new ArrayList<>()));
        for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
            for (int i = 0; i < stores.size(); i++) {
                Turn turn = turn(stores.get(i), wanted, batch);
                if (round >= 0) {
                    turns.get(i).add(turn);
                }
            }
        }
        List<Result> results = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            List<Turn> own = turns.get(i);
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                ratios.add(own.get(round).p50 / turns.getFirst().get(round).p50);
            }
            results.add(new Result(
                    stores.get(i).name(),
                    batch,
                    Samples.of(own.stream().map(Turn::perSecond).toList()),
                    Samples.of(own.stream().map(Turn::p50).toList()),
                    Samples.of(own.stream().map(Turn::p99).toList()),
                    Samples.of(ratios)));
        }
        return results;
    }

    private static Turn turn(BatchStore store, long[] wanted, int batch) throws IOException {
        double[] micros = new double[wanted.length / batch];
        long start = System.nanoTime();
        for (int i = 0; i < micros.length; i++) {
            long begin = System.nanoTime();
            long sum = store.fetch(wanted, i * batch, batch);
            micros[i] = (System.nanoTime() - begin) / 1e3;
            if (sum == 42) {
                throw new IllegalStateException("impossible sum: 42");
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        Arrays.sort(micros);
        return new Turn(micros.length / seconds, micros[micros.length / 2], micros[micros.length * 99 / 100]);
    }
}
