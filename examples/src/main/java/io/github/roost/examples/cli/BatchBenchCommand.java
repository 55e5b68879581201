package io.github.roost.examples.cli;

import io.github.roost.bench.table.BatchBench;
import io.github.roost.bench.table.BatchBench.Growth;
import io.github.roost.bench.table.BatchBench.Report;
import io.github.roost.bench.table.BatchBench.Result;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench batch}: what a batch of values costs. */
@Command(
        name = "batch",
        description =
                "Batches of values of 1 KB from a Table, beside RocksDB with as much memory and arrays on the heap.")
final class BatchBenchCommand implements Callable<Integer> {
    private static final int MOST_ROWS = 10_000_000;
    private static final int MOST_BATCH = 10_000;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--rows", paramLabel = "N", description = "Rows of each store; default 200000.")
    private int rows = 200_000;

    @Option(names = "--keys", paramLabel = "N", split = ",", description = "Keys per batch; default 10,100,500.")
    private List<Integer> keys = List.of(10, 100, 500);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all stores; default 7.")
    private int rounds = 7;

    @Mixin
    private final JsonOption json;

    BatchBenchCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--rows", rows, 1, MOST_ROWS);
        keys.forEach(batch -> BenchCommand.require("--keys", batch, 1, MOST_BATCH));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        Report report = BatchBench.measure(rows, keys.stream().sorted().toList(), rounds);
        json.line("%,d values of 1 KB, %,d MiB for each store, one thread"
                .formatted(report.rows(), report.memoryBytes() >> 20));
        json.line("keys  store                            us per batch   over Table's: median (least to most)");
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
            json.line("%-36s %14.1f   times from the smallest batch to the largest"
                    .formatted(growth.name(), growth.factor()));
        }
        json.print(Map.of("batches", report));
        return 0;
    }
}
