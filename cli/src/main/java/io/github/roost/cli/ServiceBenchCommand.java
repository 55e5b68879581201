package io.github.roost.cli;

import io.github.roost.bench.table.ServiceBench;
import io.github.roost.bench.table.ServiceBench.Result;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench service}: what a batch of values costs over the network. */
@Command(
        name = "service",
        description =
                "Batches of values of 1 KB over loopback from the table service, compared with RocksDB behind gRPC, and Redis"
                        + " if it is installed.")
final class ServiceBenchCommand implements Callable<Integer> {
    private static final int MAX_ROWS = 10_000_000;
    private static final int MAX_BATCH = 10_000;

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

    ServiceBenchCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--rows", rows, 1, MAX_ROWS);
        keys.forEach(batch -> BenchCommand.require("--keys", batch, 1, MAX_BATCH));
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        List<Result> results =
                ServiceBench.measure(rows, keys.stream().sorted().toList(), ServiceBench.KEYS_PER_TURN, rounds);
        json.line("%,d values of 1 KB, one connection, one thread that waits for each answer".formatted(rows));
        if (!ServiceBench.hasRedis()) {
            json.line(BatchBenchCommand.WITHOUT_REDIS);
        }
        json.line("keys  store                  batches/s   P50 us   P99 us   P50 over the table service's");
        for (Result result : results) {
            json.line("%4d  %-20s %11.0f %8.0f %8.0f   %.2f (%.2f to %.2f)"
                    .formatted(
                            result.batch(),
                            result.name(),
                            result.batchesPerSecond().median(),
                            result.p50Micros().median(),
                            result.p99Micros().median(),
                            result.ratio().median(),
                            result.ratio().least(),
                            result.ratio().most()));
        }
        json.print(Map.of("service", results));
        return 0;
    }
}
