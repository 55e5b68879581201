package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.Topology;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a service of tables over HTTP until the process is told to end: the implementation of {@code roost serve}. */
public final class TableService {
    /** Number of built tables between progress messages. */
    private static final int TOLD_EVERY = 10;

    private final ServeSettings settings;
    private final Topology topology;
    private final PrintStream messages;

    /**
     * @param topology the topology to run on
     * @param messages for messages
     */
    public TableService(ServeSettings settings, Topology topology, PrintStream messages) {
        this.settings = settings;
        this.topology = topology;
        this.messages = messages;
    }

    /** The default name of a file's table: the file name without its extension. */
    public static String nameOf(Path file) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return dot > 0 ? name.substring(0, dot) : name;
    }

    /**
     * Serves the Debian packages, and drains on SIGTERM or SIGINT. Returns after that.
     *
     * @param folder the folder of the Debian packages
     * @param maxTables number of sections to serve, largest first
     * @param kept folder of tables stored for later starts
     */
    public void runPackages(Path folder, int maxTables, Path kept) throws IOException, InterruptedException {
        run(() -> {
            // Before they are read: tables of older data have an older key.
            KeptTables before;
            try (Stream<Path> files = Files.list(folder)) {
                before = new KeptTables(
                        kept.resolve("packages"),
                        KeptTables.keyOf(files.sorted().toList(), "largest " + maxTables));
            }
            DebianPackages all = DebianPackages.read(folder);
            PackageTables packages = new PackageTables(
                    all.largestSections(Math.min(maxTables, all.sections().size())));
            return orchestrator -> tables(orchestrator, packages, before);
        });
    }

    /**
     * Serves one table of a file, and drains on SIGTERM or SIGINT. Returns after that.
     *
     * @param file fvecs or a similar format, HDF5 of ann-benchmarks, or JSON lines
     * @param metric the metric; null for the one named by the file, or squared L2
     * @param kept folder of tables stored for later starts
     */
    public void runFile(Path file, @Nullable Metric metric, Path kept) throws IOException, InterruptedException {
        run(() -> {
            KeptTables before = new KeptTables(
                    kept.resolve(
                            "file-" + Integer.toHexString(file.toAbsolutePath().hashCode())),
                    KeptTables.keyOf(List.of(file), "metric " + metric));
            UserTable table = UserTable.of(file, metric);
            return orchestrator -> tables(orchestrator, table, before);
        });
    }

    /**
     * Serves saved tables, and drains on SIGTERM or SIGINT. Returns after that.
     *
     * @param files by the names of their tables, at least one: of {@code HnswTable}, {@code LiveTable}, {@code IvfTable} or {@code DiskTable},
     *     all of the same dimension and metric
     */
    public void runSaved(Map<String, Path> files) throws IOException, InterruptedException {
        run(() -> {
            SavedTables saved = SavedTables.of(files);
            return orchestrator -> {
                Tables tables = saved.open(orchestrator);
                messages.println("opened " + files.size() + " saved tables of %,d rows".formatted(tables.rows()));
                return tables;
            };
        });
    }

    /** Reads the data; needs no workers. */
    @FunctionalInterface
    private interface Reading {
        Opening read() throws IOException;
    }

    /** Makes the tables; needs workers. */
    @FunctionalInterface
    private interface Opening {
        Tables tables(Orchestrator orchestrator) throws IOException;
    }

    private void run(Reading reading) throws IOException, InterruptedException {
        // Concurrent with the start of the workers and the server, which read nothing.
        CompletableFuture<Opening> read = CompletableFuture.supplyAsync(() -> unchecked(reading));
        Orchestrator orchestrator = Orchestrator.builder().topology(topology).build();
        RoostService service = listen(orchestrator);
        CountDownLatch ended = new CountDownLatch(1);
        Thread drain = new Thread(() -> drain(service, ended), "roost-drain");
        Runtime.getRuntime().addShutdownHook(drain);
        try {
            service.serve(whole(read).tables(orchestrator));
        } catch (IOException | RuntimeException e) {
            if (!service.isDraining()) {
                Runtime.getRuntime().removeShutdownHook(drain);
                service.drain();
                throw e;
            }
        }
        if (!service.isDraining()) {
            String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
            messages.println("serving on http://" + host + ":" + service.port() + "/ ("
                    + (settings.token() == null ? "writes are open to this machine" : "writes need the ROOST_TOKEN")
                    + "); Ctrl-C stops it");
        }
        ended.await();
    }

    private static Opening unchecked(Reading reading) {
        try {
            return reading.read();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Waits for the reading; rethrows its failure. */
    private static Opening whole(CompletableFuture<Opening> read) throws IOException {
        try {
            return read.join();
        } catch (CompletionException failed) {
            switch (failed.getCause()) {
                case UncheckedIOException unreadable -> throw unreadable.getCause();
                case RuntimeException unexpected -> throw unexpected;
                case null, default -> throw failed;
            }
        }
    }

    Tables tables(Orchestrator orchestrator, ServedData data, KeptTables kept) throws IOException {
        List<LiveTable> opened = kept.open(orchestrator, data.names()).orElse(List.of());
        if (!opened.isEmpty()) {
            messages.println("opened " + data.title() + ", built at an earlier start");
            return data.tables(data.describe(opened));
        }
        messages.println("building " + data.title());
        AtomicInteger standing = new AtomicInteger();
        List<DescribedTable> tables = data.build(orchestrator, built -> {
            if (standing.incrementAndGet() % TOLD_EVERY == 0) {
                messages.println("built " + standing + " of " + data.names().size() + " tables");
            }
        });
        try {
            kept.keep(tables.stream().map(DescribedTable::rows).toList());
        } catch (IOException notKept) {
            messages.println("the tables cannot be stored, the next start builds them again: " + notKept.getMessage());
        }
        return data.tables(tables);
    }

    RoostService listen(Orchestrator orchestrator) throws IOException {
        try {
            return new RoostService(orchestrator, settings);
        } catch (UncheckedIOException e) {
            orchestrator.close();
            throw e.getCause();
        }
    }

    private void drain(RoostService service, CountDownLatch ended) {
        messages.println("draining: accepted requests are answered, new ones are rejected");
        messages.println(
                service.drain()
                        ? "drained: everything accepted was answered"
                        : "not everything accepted was answered in "
                                + settings.drainTime().toSeconds() + " s");
        ended.countDown();
    }
}
