package io.github.roost.cli;

import io.github.roost.index.remote.MemoryNode;
import io.github.roost.index.remote.ucx.UcxNode;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code roost memory-node}: serves a pool of partitions for tables in other processes. */
@Command(
        name = "memory-node",
        description = {
            "Serves a pool that roost build remote has saved, until it gets SIGTERM or Ctrl-C.",
            "Tables in other processes read the pool directly, and refuse searches while its heartbeat is missing."
        })
final class MemoryNodeCommand implements Callable<Integer> {
    static final String UCX = "ucx:";
    /** Prefix of the output line with the node's address. */
    static final String LISTENING = "listening at ";

    private final Streams streams;

    @Parameters(paramLabel = "POOL", description = "The pool's file, such as one in /dev/shm.")
    @SuppressWarnings("NullAway.Init")
    private Path pool;

    @Option(
            names = "--term-millis",
            paramLabel = "N",
            description = "Time without a heartbeat after which tables consider the node lost; default 1000.")
    private int termMillis = 1_000;

    @Option(
            names = "--listen",
            paramLabel = "ucx://HOST:PORT",
            description = {
                "Exposes the pool over UCX too; port 0 takes a free one, which is printed.",
                "Every process that can reach it can read and write this process's memory: use loopback or a trusted"
                        + " network."
            })
    private @Nullable String listen;

    MemoryNodeCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Options.require("--term-millis", termMillis, 20, 3_600_000);
        if (listen != null && !listen.startsWith(UCX)) {
            throw new CommandFailure("--listen must be ucx://HOST:PORT, got " + listen);
        }
        CountDownLatch ended = new CountDownLatch(1);
        try (MemoryNode node = MemoryNode.serve(pool, Duration.ofMillis(termMillis));
                UcxNode exposed = listen == null ? null : UcxNode.serve(pool, listen)) {
            Thread atExit = new Thread(ended::countDown);
            Runtime.getRuntime().addShutdownHook(atExit);
            streams.out()
                    .println("serving %d partitions, %.1f MiB, of %s"
                            .formatted(node.partitions(), node.bytes() / 1048576.0, node.region()));
            if (exposed != null) {
                streams.out().println(LISTENING + exposed.address());
            }
            ended.await();
        }
        return 0;
    }
}
