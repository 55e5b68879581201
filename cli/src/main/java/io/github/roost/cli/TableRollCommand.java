package io.github.roost.cli;

import io.github.roost.rows.service.Coordinator;
import io.github.roost.rows.service.Registry;
import io.github.roost.rows.service.Registry.Announced;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost table-service roll}: a coordinator, until all servers have a version. */
@Command(
        name = "roll",
        description = {
            "Brings all servers of a table to a version, one replica after the other.",
            "Without --version it continues with the announced version, for example after a coordinator was lost or a"
                    + " server has joined."
        })
final class TableRollCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final RegistryOptions registry = new RegistryOptions();

    @Option(names = "--version", paramLabel = "N", description = "Number of the version, higher than all earlier ones.")
    private @Nullable Long version;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the version; default 4.")
    private int shards = 4;

    @Option(
            names = "--shard-bytes",
            paramLabel = "N",
            description =
                    "Instead of --shards: enough shards to keep each within this memory, by the previous version's"
                            + " size.")
    private @Nullable Long shardBytes;

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            description = "Longer than any client waits for a batch; default 10.")
    private int grace = 10;

    @Option(names = "--trusted", paramLabel = "FILE", description = "PEM file of trusted CA certificates.")
    private @Nullable Path trusted;

    TableRollCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws InterruptedException {
        Options.require("--shards", shards, 1, 4_096);
        Options.require("--grace", grace, 0, 3_600);
        Coordinator.Options options = new Coordinator.Options(
                2,
                Duration.ofSeconds(grace),
                Duration.ofHours(1),
                trusted,
                registry.ordersTokens(),
                new Coordinator.Observer() {
                    @Override
                    public void told(String what) {
                        streams.out().println(what);
                    }
                });
        try (Registry connected = registry.connect();
                Coordinator coordinator = new Coordinator(connected, registry.table(), options)) {
            if (version != null) {
                int of = shards;
                if (shardBytes != null) {
                    of = coordinator.rollBySize(version, shardBytes).shards();
                } else {
                    coordinator.roll(version, shards);
                }
                streams.out().println("all servers have version " + version + " in " + of + " shards");
            } else {
                Optional<Announced> announced = coordinator.resume();
                streams.out()
                        .println(announced
                                .map(done -> "all servers have version " + done.version())
                                .orElse("no version is announced"));
            }
        } catch (IllegalStateException e) {
            throw new CommandFailure(String.valueOf(e.getMessage()));
        }
        return 0;
    }
}
