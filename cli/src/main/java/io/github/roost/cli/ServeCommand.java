package io.github.roost.cli;

import io.github.roost.server.ServeSettings;
import io.github.roost.server.TableService;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost serve}: the Debian packages, vectors of a file, or saved tables, over HTTP. */
@Command(
        name = "serve",
        description = {
            "Serves vectors over HTTP until SIGTERM or Ctrl-C: the Debian packages, one table per section, or one"
                    + " table of a file. Tables are kept in cli/target/served: the next start opens them. With"
                    + " --table, saved tables are served as they are.",
            "The environment variable ROOST_TOKEN guards writes, and must be set to bind any but a loopback address."
        })
final class ServeCommand implements Callable<Integer> {
    private static final Path KEPT = Path.of("cli", "target", "served");

    private final Streams streams;

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on, 0 for any free one; default 8080.")
    private int port = 8080;

    @Option(names = "--host", paramLabel = "H", description = "Address to bind; default 127.0.0.1.")
    private String host = "127.0.0.1";

    @Option(names = "--tables", paramLabel = "N", description = "Use only the N largest sections; default all.")
    private @Nullable Integer tables;

    @Option(
            names = "--data",
            paramLabel = "FILE",
            description =
                    "Serve the vectors of a file instead: .fvecs, .bvecs, .fbin, .u8bin, .i8bin or .f16bin; .hdf5 of"
                            + " ann-benchmarks; or .jsonl, one object per line, {\"id\": \"sku-7\" or 7, \"vector\": [...],"
                            + " \"attributes\": {\"name\": ...}}.")
    private @Nullable Path data;

    @Option(
            names = "--table",
            paramLabel = "[NAME=]TABLE",
            description =
                    "Serve a table that roost build hnsw, ivf or disk or a program has saved instead; may be given"
                            + " several times, for tables of one dimension and metric. Without NAME it is named after its"
                            + " file.")
    private List<String> saved = List.of();

    @Option(
            names = "--metric",
            paramLabel = "M",
            description = "Metric of --data: SQUARED_L2, COSINE or INNER_PRODUCT; default the metric of an HDF5"
                    + " file, else SQUARED_L2.")
    private @Nullable Metric metric;

    @Option(
            names = "--topology",
            paramLabel = "S",
            description = "Simulate the cache domains of an hwloc synthetic description, such as"
                    + " \"pack:1 l3:2 core:1 pu:1\", on the real CPUs.")
    private @Nullable String topology;

    @Mixin
    private final ReserveCoresOption reserved = new ReserveCoresOption();

    ServeCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Options.require("--port", port, 0, 65_535);
        int maxTables = tables == null ? Integer.MAX_VALUE : tables;
        Options.require("--tables", maxTables, 1, Integer.MAX_VALUE);
        if (data != null && !saved.isEmpty()) {
            throw new CommandFailure("--data or --table may be given, got both");
        }
        if (data == null && metric != null) {
            throw new CommandFailure("--metric requires --data");
        }
        if (tables != null && (data != null || !saved.isEmpty())) {
            throw new CommandFailure(
                    "--tables applies to the packages, not to " + (data != null ? "--data" : "--table"));
        }
        Map<String, Path> files = files();
        ServeSettings settings = ServeSettings.DEFAULT
                .withHost(host, System.getenv("ROOST_TOKEN"))
                .withPort(port);
        reserved.reserve(topology);
        TopologyReader machine = topology == null
                ? TopologyReader.live()
                : TopologyReader.synthetic(topology).onThisSystem(true);
        Path kept = RoostHome.checkout().resolve(KEPT);
        TableService service = new TableService(settings, machine.read(), streams.err());
        if (!files.isEmpty()) {
            service.runSaved(files);
        } else if (data == null) {
            service.runPackages(RoostHome.packages(), maxTables, kept);
        } else {
            service.runFile(data, metric, kept);
        }
        return 0;
    }

    /** The files of saved tables by the tables' names. */
    private Map<String, Path> files() {
        Map<String, Path> files = new LinkedHashMap<>();
        for (String option : saved) {
            int equals = option.indexOf('=');
            Path file = Path.of(option.substring(equals + 1));
            if (!Files.isRegularFile(file)) {
                throw new CommandFailure("--table " + option + ": there is no file " + file);
            }
            String name = equals < 0 ? TableService.nameOf(file) : option.substring(0, equals);
            if (name.isBlank()) {
                throw new CommandFailure("--table must be NAME=TABLE or TABLE, got " + option);
            }
            Path before = files.put(name, file);
            if (before != null) {
                throw new CommandFailure("--table must give each table its own name, got " + name + " for " + before
                        + " and for " + file + "; use NAME=" + file);
            }
        }
        return files;
    }
}
