package io.github.roost.cli;

import io.github.roost.bench.table.BatchBench;
import io.github.roost.bench.table.BatchBench.Growth;
import io.github.roost.bench.table.BatchBench.Report;
import io.github.roost.bench.table.BatchBench.Result;
import io.github.roost.bench.table.ColdBench;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench batch}: the cost of a batch of value lookups. */
@Command(
        name = "batch",
        description =
                "Batches of values of 1 KB from a Table, compared with RocksDB with the same memory, heap arrays, Chronicle"
                        + " Map, and Redis if it is installed.")
final class BatchBenchCommand implements Callable<Integer> {
    private static final int MAX_ROWS = 10_000_000;
    private static final int MAX_BATCH = 10_000;
    private static final int MIN_COLD_ROWS = 1_000;
    private static final int COLD_KEYS = 50_000;
    static final String WITHOUT_REDIS = "Redis is not installed and left out (apt-get install redis-server)";

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--rows", paramLabel = "N", description = "Rows of each store; default 200000.")
    private int rows = 200_000;

    @Option(names = "--keys", paramLabel = "N", split = ",", description = "Keys per batch; default 10,100,500.")
    private List<Integer> keys = List.of(10, 100, 500);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all stores; default 7.")
    private int rounds = 7;

    @Option(
            names = "--cold",
            description =
                    "Instead: a tenth of the values fits into memory, keys by Zipf's law, compared with RocksDB with the same"
                            + " memory.")
    private boolean cold;

    @Mixin
    private final JsonOption json;

    BatchBenchCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--rows", rows, cold ? MIN_COLD_ROWS : 1, MAX_ROWS);
        keys.forEach(batch -> BenchCommand.require("--keys", batch, 1, MAX_BATCH));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        if (cold) {
            printCold(ColdBench.measure(rows, keys.stream().sorted().toList(), rounds, Math.min(rows, COLD_KEYS)));
            return 0;
        }
        Report report = BatchBench.measure(rows, keys.stream().sorted().toList(), rounds);
        json.line("%,d values of 1 KB, %,d MiB for each store, %,d MiB for Chronicle Map, one thread"
                .formatted(report.rows(), report.memoryBytes() >> 20, report.chronicleBytes() >> 20));
        if (!report.hasRedis()) {
            json.line(WITHOUT_REDIS);
        }
        json.line("keys  store                            us per batch   ratio to Table: median (min to max)");
        for (Result result : report.results()) {
            json.line("%4d  %-30s %14.1f   %.2f (%.2f to %.2f)"
                    .formatted(
                            result.batch(),
                            result.name(),
                            result.micros().median(),
                            result.ratio().median(),
                            result.ratio().least(),
                            result.ratio().most()));
        }
        for (Growth growth : report.growth()) {
            json.line("%-36s %14.1f   times longer for the largest batch than for the smallest"
                    .formatted(growth.name(), growth.factor()));
        }
        json.print(Map.of("batches", report));
        return 0;
    }

    private void printCold(ColdBench.Report report) throws Exception {
        json.line("%,d values of 1 KB, memory for %,d MiB of them, keys by Zipf .99, one request at a time, %s"
                .formatted(report.rows(), report.valueMemory() >> 20, report.backend()));
        json.line(
                "keys  store                     bytes per row   found in memory   blocks, reads per batch   us per batch: P50 (min to max)"
                        + "   P99 (min to max)   P50, ratio to Table.fetch");
        for (ColdBench.Result result : report.results()) {
            json.line(
                    "%4d  %-25s %13.0f %15.1f %%   %6.1f %6.1f   %,.0f (%,.0f to %,.0f)   %,.0f (%,.0f to %,.0f)   %.2f (%.2f to %.2f)"
                            .formatted(
                                    result.batch(),
                                    result.name(),
                                    result.bytesPerRow(),
                                    100 * result.hitShare().median(),
                                    result.blocksPerBatch(),
                                    result.readsPerBatch(),
                                    result.p50Micros().median(),
                                    result.p50Micros().least(),
                                    result.p50Micros().most(),
                                    result.p99Micros().median(),
                                    result.p99Micros().least(),
                                    result.p99Micros().most(),
                                    result.ratio().median(),
                                    result.ratio().least(),
                                    result.ratio().most()));
        }
        json.print(Map.of("cold", report));
    }
}
