package io.github.roost.cli;

import io.github.roost.cli.rows.RollingService;
import io.github.roost.cli.rows.RollingService.Seen;
import io.github.roost.cli.rows.RollingService.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost table-service}: a client's view of rollouts of versions; and the parts of a service on several machines. */
@Command(
        name = "table-service",
        description = {
            "Starts etcd and servers of one table on loopback, each in its own process, rolls out versions, and prints"
                    + " a client's results. Subcommands are the parts of such a service on several machines."
        },
        synopsisSubcommandLabel = "[node|roll|fetch]")
final class TableServiceCommand implements Callable<Integer> {
    private static final int MAX_NODES = 16;
    private static final int MAX_ROWS = 1_000_000;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "Number of servers, each a replica of all shards; default 3.")
    private int nodes = 3;

    @Option(names = "--versions", paramLabel = "N", description = "Versions to roll out after the first; default 3.")
    private int versions = 3;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of 1 KB per version; default 20000.")
    private int rows = 20_000;

    @Option(
            names = "--kill",
            description = "Then kill each server once, and etcd for a while; needs etcd and at least two servers.")
    private boolean kill;

    @Option(names = "--outage", paramLabel = "SECONDS", description = "Downtime of etcd; default 60.")
    private int outage = 60;

    @Mixin
    private final JsonOption json;

    TableServiceCommand(Streams streams) {
        this.json = new JsonOption(streams);
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--nodes", nodes, 1, MAX_NODES);
        BenchCommand.require("--versions", versions, 1, 1_000);
        BenchCommand.require("--rows", rows, 1, MAX_ROWS);
        BenchCommand.require("--outage", outage, 1, 3_600);
        if (kill && nodes < 2) {
            throw new CommandFailure("--kill needs --nodes 2 or more, got " + nodes);
        }
        Settings settings =
                new Settings(nodes, versions, rows, kill ? Duration.ofSeconds(outage) : null, RoostProcess.jvm());
        Seen seen;
        try (RollingService service = new RollingService(settings, json::line)) {
            Thread atExit = new Thread(() -> close(service), "roost-table-service-end");
            Runtime.getRuntime().addShutdownHook(atExit);
            seen = service.run();
            RoostProcess.removeHook(atExit);
        }
        print(seen);
        return seen.failed() + seen.wrong() == 0 ? 0 : 1;
    }

    private static void close(RollingService service) {
        try {
            service.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void print(Seen seen) throws IOException {
        json.line("the client: %,d batches of 100 rows, %,d without an answer, %,d wrong or of mixed versions"
                .formatted(seen.batches(), seen.failed(), seen.wrong()));
        seen.byVersion().forEach((version, batches) -> json.line("%,d of version %d".formatted(batches, version)));
        json.line("%,d of %,d requests were also sent to a second server, since the first was slow"
                .formatted(seen.client().hedges(), seen.client().requests()));
        json.line("max in memory: %d versions on %d servers, %.2f times the memory of one version on all servers"
                .formatted(seen.maxVersions(), nodes, seen.maxMemory()));
        if (kill && !seen.processes()) {
            json.line("no process was killed: that needs etcd");
        }
        json.print(Map.of("client", seen));
    }
}
