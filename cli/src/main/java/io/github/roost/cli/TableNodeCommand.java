package io.github.roost.cli;

import io.github.roost.cli.rows.DemoRows;
import io.github.roost.cli.rows.ServiceNode;
import io.github.roost.rows.service.RowsServer;
import io.github.roost.simulator.options.Options;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost table-service node}: one server of a table, until it is stopped. */
@Command(
        name = "node",
        description = {
            "Serves a table of generated rows to clients and coordinators of any process, until SIGTERM or Ctrl-C.",
            "Any address but a loopback one needs --certificate, --key and the environment variables"
                    + " ROOST_TABLE_TOKEN, for clients, and ROOST_TABLE_ORDERS_TOKEN, for coordinators; or the same"
                    + " names with _FILE, of files with a token per line, which are read again when they change."
        })
final class TableNodeCommand implements Callable<Integer> {
    private static final int MAX_ROWS = 10_000_000;
    private static final int MAX_MESSAGE_BYTES = 1 << 20;
    private static final int MAX_REPLY_BYTES = 1 << 28;
    private static final long CLOSE_SECONDS = 30;

    private final Streams streams;

    @Mixin
    private final RegistryOptions registry = new RegistryOptions();

    @Option(names = "--name", required = true, paramLabel = "NAME", description = "Unique server name.")
    @SuppressWarnings("NullAway.Init")
    private String name;

    @Option(names = "--data", required = true, paramLabel = "DIR", description = "Folder for its versions.")
    @SuppressWarnings("NullAway.Init")
    private Path data;

    @Option(names = "--listen", paramLabel = "HOST:PORT", description = "Port 0 for any free one; default 127.0.0.1:0.")
    private String listen = "127.0.0.1:0";

    @Option(
            names = "--advertise",
            paramLabel = "HOST:PORT",
            description = "Address for clients, if different from --listen; port 0 for the same port.")
    private @Nullable String advertise;

    @Option(names = "--group", paramLabel = "N", description = "Number of its replica; default 0.")
    private int group;

    @Option(names = "--ordinal", paramLabel = "N", description = "Number of the server in its group; default 0.")
    private int ordinal;

    @Option(names = "--of", paramLabel = "N", description = "Number of servers in its group; default 1.")
    private int of = 1;

    @Option(names = "--rows", paramLabel = "N", description = "Rows of 1 KB per version; default 20000.")
    private int rows = 20_000;

    @Option(names = "--certificate", paramLabel = "FILE", description = "PEM file of the server's certificate chain.")
    private @Nullable Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "PEM file of its private key.")
    private @Nullable Path key;

    @Option(names = "--until-input-ends", description = "Also end when standard input ends.")
    private boolean untilInputEnds;

    TableNodeCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Options.require("--rows", rows, 1, MAX_ROWS);
        RowsServer.Options options = new RowsServer.Options(
                RegistryOptions.address("--listen", listen),
                certificate,
                key,
                registry.tokens(),
                MAX_MESSAGE_BYTES,
                MAX_REPLY_BYTES);
        ServiceNode.Settings settings = new ServiceNode.Settings(
                name,
                registry.table(),
                new RowsServer.Seat(group, ordinal, of),
                data,
                options,
                registry.ordersTokens(),
                advertise == null ? null : RegistryOptions.address("--advertise", advertise));
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        try (var connected = registry.connect();
                ServiceNode node = ServiceNode.start(settings, connected, new DemoRows(rows))) {
            Thread atExit = new Thread(() -> end(ended, closed), "roost-node-end");
            Runtime.getRuntime().addShutdownHook(atExit);
            if (untilInputEnds) {
                Thread.ofPlatform().daemon().name("roost-node-input").start(() -> awaitInput(ended));
            }
            streams.out().println(name + " listens on " + node.address());
            streams.out().flush();
            ended.await();
        } finally {
            closed.countDown();
        }
        return 0;
    }

    /** At process exit: stops the server and waits until it is closed. */
    private static void end(CountDownLatch ended, CountDownLatch closed) {
        ended.countDown();
        try {
            closed.await(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitInput(CountDownLatch ended) {
        try (InputStream in = streams.in()) {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException alsoItsEnd) {
            // The process at the other end is gone.
        } finally {
            ended.countDown();
        }
    }
}
