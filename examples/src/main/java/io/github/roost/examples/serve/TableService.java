package io.github.roost.examples.serve;

import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.core.Metric;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tables over HTTP, until the process is told to end: what {@code roost serve} runs. */
public final class TableService {
    /** After how many tables a building service says how far it is. */
    private static final int TOLD_EVERY = 10;

    private final ServeSettings settings;
    private final Topology topology;
    private final PrintStream messages;

    /**
     * @param topology what to run on
     * @param messages where to tell what happens
     */
    public TableService(ServeSettings settings, Topology topology, PrintStream messages) {
        this.settings = settings;
        this.topology = topology;
        this.messages = messages;
    }

    /**
     * Serves the Debian packages, and drains at SIGTERM or SIGINT. Does not return before.
     *
     * @param folder the folder of the Debian packages
     * @param mostTables how many of the largest sections to serve
     * @param kept a folder in which tables are kept from one start to the next
     */
    public void runPackages(Path folder, int mostTables, Path kept) throws IOException, InterruptedException {
        run(
                () -> {
                    DebianPackages all = DebianPackages.read(folder);
                    return new PackageTables(all.largestSections(
                            Math.min(mostTables, all.sections().size())));
                },
                () -> {
                    try (Stream<Path> files = Files.list(folder)) {
                        return new KeptTables(
                                kept.resolve("packages"),
                                KeptTables.keyOf(files.sorted().toList(), "largest " + mostTables));
                    }
                });
    }

    /**
     * Serves one table of a file, and drains at SIGTERM or SIGINT. Does not return before.
     *
     * @param file fvecs or its kin, HDF5 of ann-benchmarks, or JSON lines
     * @param metric by which distances are measured; null for that which the file names, or squared L2
     * @param kept a folder in which tables are kept from one start to the next
     */
    public void runFile(Path file, @Nullable Metric metric, Path kept) throws IOException, InterruptedException {
        run(
                () -> UserTable.of(file, metric),
                () -> new KeptTables(
                        kept.resolve("file-"
                                + Integer.toHexString(file.toAbsolutePath().hashCode())),
                        KeptTables.keyOf(List.of(file), "metric " + metric)));
    }

    /** Makes something that reads files. */
    @FunctionalInterface
    private interface Reading<T> {
        T get() throws IOException;
    }

    private void run(Reading<ServedData> data, Reading<KeptTables> kept) throws IOException, InterruptedException {
        Orchestrator orchestrator = Orchestrator.builder().topology(topology).build();
        RoostService service = listen(orchestrator);
        CountDownLatch ended = new CountDownLatch(1);
        Thread drain = new Thread(() -> drain(service, ended), "roost-drain");
        Runtime.getRuntime().addShutdownHook(drain);
        try {
            service.serve(tables(orchestrator, data.get(), kept));
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
                    + "); Ctrl-C ends it");
        }
        ended.await();
    }

    private Tables tables(Orchestrator orchestrator, ServedData data, Reading<KeptTables> from) throws IOException {
        KeptTables kept = from.get();
        List<LiveTable> opened = kept.open(orchestrator, data.names()).orElse(List.of());
        if (!opened.isEmpty()) {
            messages.println("opened " + data.title() + " that an earlier start has built");
            return data.tables(data.describe(opened));
        }
        messages.println("building " + data.title());
        AtomicInteger standing = new AtomicInteger();
        List<ServedTable> tables = data.build(orchestrator, built -> {
            if (standing.incrementAndGet() % TOLD_EVERY == 0) {
                messages.println("built " + standing + " of " + data.names().size() + " tables");
            }
        });
        try {
            kept.keep(tables.stream().map(ServedTable::rows).toList());
        } catch (IOException notKept) {
            messages.println(
                    "the tables are built again at the next start, they cannot be kept: " + notKept.getMessage());
        }
        return data.tables(tables);
    }

    private RoostService listen(Orchestrator orchestrator) throws IOException {
        try {
            return new RoostService(orchestrator, settings);
        } catch (UncheckedIOException e) {
            orchestrator.close();
            throw e.getCause();
        }
    }

    private void drain(RoostService service, CountDownLatch ended) {
        messages.println("draining: what is accepted is answered, the rest is turned away");
        messages.println(
                service.drain()
                        ? "drained: everything accepted was answered"
                        : "not everything accepted was answered in "
                                + settings.drainTime().toSeconds() + " s");
        ended.countDown();
    }
}
