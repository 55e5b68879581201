package io.github.roost.examples.serve;

import io.github.roost.bench.packages.DebianPackages;
import io.github.roost.core.Orchestrator;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** The Debian packages over HTTP, until the process is told to end: what {@code roost serve} runs. */
public final class PackageService {
    /** After how many tables a building service says how far it is. */
    private static final int TOLD_EVERY = 10;

    private final ServeSettings settings;
    private final Topology topology;
    private final PrintStream messages;

    /**
     * @param topology what to run on
     * @param messages where to tell what happens
     */
    public PackageService(ServeSettings settings, Topology topology, PrintStream messages) {
        this.settings = settings;
        this.topology = topology;
        this.messages = messages;
    }

    /**
     * Builds the tables, serves them and drains at SIGTERM or SIGINT. Does not return before.
     *
     * @param folder the folder of the Debian packages
     * @param mostTables how many of the largest sections to serve
     */
    public void run(Path folder, int mostTables) throws IOException, InterruptedException {
        Orchestrator orchestrator = Orchestrator.builder().topology(topology).build();
        RoostService service = listen(orchestrator);
        CountDownLatch ended = new CountDownLatch(1);
        Thread drain = new Thread(() -> drain(service, ended), "roost-drain");
        Runtime.getRuntime().addShutdownHook(drain);
        try {
            DebianPackages all = DebianPackages.read(folder);
            service.serve(build(
                    orchestrator,
                    all.largestSections(Math.min(mostTables, all.sections().size()))));
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

    private Tables build(Orchestrator orchestrator, DebianPackages data) {
        int tables = data.sections().size();
        messages.println("building %d tables of %,d packages"
                .formatted(tables, data.packages().size()));
        AtomicInteger standing = new AtomicInteger();
        return PackageTables.of(orchestrator, data, built -> {
            if (standing.incrementAndGet() % TOLD_EVERY == 0) {
                messages.println("built " + standing + " of " + tables + " tables");
            }
        });
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
