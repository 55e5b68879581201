package io.github.roost.cli;

import io.github.roost.bench.peer.ChildJvm;
import io.github.roost.cli.rows.RollingService;
import io.github.roost.cli.rows.RollingService.Seen;
import io.github.roost.cli.rows.RollingService.Settings;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.Options;
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
    private final JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        Options.require("--nodes", nodes, 1, MAX_NODES);
        Options.require("--versions", versions, 1, 1_000);
        Options.require("--rows", rows, 1, MAX_ROWS);
        Options.require("--outage", outage, 1, 3_600);
        if (kill && nodes < 2) {
            throw new CommandFailure("--kill needs --nodes 2 or more, got " + nodes);
        }
        Settings settings =
                new Settings(nodes, versions, rows, kill ? Duration.ofSeconds(outage) : null, RoostProcess.jvm());
        Seen seen;
        try (RollingService service = new RollingService(settings, output::line)) {
            Thread atExit = new Thread(() -> close(service), "roost-table-service-end");
            Runtime.getRuntime().addShutdownHook(atExit);
            seen = service.run();
            ChildJvm.removeHook(atExit);
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
        output.format(
                "the client: %,d batches of 100 rows, %,d without an answer, %,d wrong or of mixed versions",
                seen.batches(), seen.failed(), seen.wrong());
        seen.byVersion().forEach((version, batches) -> output.format("%,d of version %d", batches, version));
        output.format(
                "%,d of %,d requests were also sent to a second server, since the first was slow",
                seen.client().hedges(), seen.client().requests());
        output.format(
                "max in memory: %d versions on %d servers, %.2f times the memory of one version on all servers",
                seen.maxVersions(), nodes, seen.maxMemory());
        if (kill && !seen.processes()) {
            output.line("no process was killed: that needs etcd");
        }
        output.print(Map.of("client", seen));
    }
}
