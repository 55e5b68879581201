package io.github.roost.examples.cli;

import io.github.roost.examples.tableservice.RollingService;
import io.github.roost.examples.tableservice.RollingService.Seen;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost table-service}: what a client sees while versions are rolled out. */
@Command(
        name = "table-service",
        description =
                "Starts servers of one table on loopback, rolls versions out over them, and prints what a client sees.")
final class TableServiceCommand implements Callable<Integer> {
    private static final int MOST_NODES = 16;
    private static final int MOST_ROWS = 1_000_000;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--nodes", paramLabel = "N", description = "Servers, each a replica of all shards; default 3.")
    private int nodes = 3;

    @Option(names = "--versions", paramLabel = "N", description = "Versions to roll out after the first; default 3.")
    private int versions = 3;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of 1 KB of each version; default 20000.")
    private int rows = 20_000;

    @Mixin
    private final JsonOption json;

    TableServiceCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--nodes", nodes, 1, MOST_NODES);
        BenchCommand.require("--versions", versions, 1, 1_000);
        BenchCommand.require("--rows", rows, 1, MOST_ROWS);
        Seen seen = RollingService.run(nodes, versions, rows, json::line);
        json.line("the client: %,d batches of 100 rows, %,d without an answer, %,d of mixed versions"
                .formatted(seen.batches(), seen.failed(), seen.mixed()));
        seen.byVersion().forEach((version, batches) -> json.line("%,d of version %d".formatted(batches, version)));
        json.line("in memory at most: %d versions at %d servers".formatted(seen.mostVersions(), nodes));
        json.print(Map.of("client", seen));
        return seen.failed() + seen.mixed() == 0 ? 0 : 1;
    }
}
