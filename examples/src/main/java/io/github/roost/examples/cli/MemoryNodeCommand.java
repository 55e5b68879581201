package io.github.roost.examples.cli;

import io.github.roost.index.remote.MemoryNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code roost memory-node}: looks after a pool of partitions, for tables in other processes. */
@Command(
        name = "memory-node",
        description = {
            "Serves a pool that roost build remote has saved, until it gets SIGTERM or Ctrl-C.",
            "Tables of other processes read the pool by themselves; while no heartbeat comes they refuse to."
        })
final class MemoryNodeCommand implements Callable<Integer> {
    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Parameters(paramLabel = "POOL", description = "The pool's file, such as one in /dev/shm.")
    @SuppressWarnings("NullAway.Init")
    private Path pool;

    @Option(
            names = "--term-millis",
            paramLabel = "N",
            description = "How long no heartbeat may come before tables take the node for lost; default 1000.")
    private int termMillis = 1_000;

    MemoryNodeCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--term-millis", termMillis, 20, 3_600_000);
        CountDownLatch ended = new CountDownLatch(1);
        try (MemoryNode node = MemoryNode.serve(pool, Duration.ofMillis(termMillis))) {
            Thread atExit = new Thread(ended::countDown);
            Runtime.getRuntime().addShutdownHook(atExit);
            streams.out()
                    .println("serving %d partitions, %.1f MiB, of %s"
                            .formatted(node.partitions(), node.bytes() / 1048576.0, node.region()));
            ended.await();
        }
        return 0;
    }
}
