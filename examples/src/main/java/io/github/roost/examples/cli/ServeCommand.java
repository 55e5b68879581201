package io.github.roost.examples.cli;

import io.github.roost.core.Metric;
import io.github.roost.examples.serve.ServeSettings;
import io.github.roost.examples.serve.TableService;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost serve}: the Debian packages, or vectors of a file, over HTTP. */
@Command(
        name = "serve",
        description = {
            "Serves vectors over HTTP until it gets SIGTERM or Ctrl-C: the Debian packages, one table per section, or one"
                    + " table of a file. Tables are kept in examples/target/served: the next start opens them.",
            "The environment variable ROOST_TOKEN guards writes, and must be set to bind anything but this machine."
        })
final class ServeCommand implements Callable<Integer> {
    private static final Path KEPT = Path.of("examples", "target", "served");
    private static final Path DATA = Path.of("examples", "data", "debian-packages");

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on, 0 for any free one; default 8080.")
    private int port = 8080;

    @Option(names = "--host", paramLabel = "H", description = "Address to bind; default 127.0.0.1.")
    private String host = "127.0.0.1";

    @Option(names = "--tables", paramLabel = "N", description = "Take the N largest sections only; default all.")
    private @Nullable Integer tables;

    @Option(
            names = "--data",
            paramLabel = "FILE",
            description =
                    "Serve the vectors of a file instead: .fvecs, .bvecs, .fbin, .u8bin, .i8bin or .f16bin; .hdf5 of"
                            + " ann-benchmarks; or .jsonl, one object per line, {\"id\": 7, \"vector\": [...], \"attributes\":"
                            + " {\"name\": ...}}.")
    private @Nullable Path data;

    @Option(
            names = "--metric",
            paramLabel = "M",
            description =
                    "How distances of --data are measured: SQUARED_L2, COSINE or INNER_PRODUCT; default what an HDF5"
                            + " file says, else SQUARED_L2.")
    private @Nullable Metric metric;

    @Option(
            names = "--topology",
            paramLabel = "S",
            description = "Pretend the cache domains of an hwloc synthetic description, such as"
                    + " \"pack:1 l3:2 core:1 pu:1\", on the real CPUs.")
    private @Nullable String topology;

    ServeCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--port", port, 0, 65_535);
        int mostTables = tables == null ? Integer.MAX_VALUE : tables;
        BenchCommand.require("--tables", mostTables, 1, Integer.MAX_VALUE);
        if (data == null ? metric != null : tables != null) {
            throw new CommandFailure(
                    data == null
                            ? "--metric is of --data, which is not given"
                            : "--tables is of the packages, not of --data");
        }
        ServeSettings settings = ServeSettings.DEFAULT
                .withHost(host, System.getenv("ROOST_TOKEN"))
                .withPort(port);
        TopologyReader machine = topology == null
                ? TopologyReader.live()
                : TopologyReader.synthetic(topology).onThisSystem(true);
        Path home = Path.of(System.getProperty("roost.home", ""));
        TableService service = new TableService(settings, machine.read(), streams.err());
        if (data == null) {
            service.runPackages(home.resolve(DATA), mostTables, home.resolve(KEPT));
        } else {
            service.runFile(data, metric, home.resolve(KEPT));
        }
        return 0;
    }
}
