package io.github.roost.examples.cli;

import io.github.roost.examples.serve.PackageService;
import io.github.roost.examples.serve.ServeSettings;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost serve}: the Debian packages over HTTP. */
@Command(
        name = "serve",
        description = {
            "Serves the Debian packages over HTTP, a table a section, until it gets SIGTERM or Ctrl-C.",
            "The environment variable ROOST_TOKEN guards writes, and must be set to bind anything but this machine."
        })
final class ServeCommand implements Callable<Integer> {
    private static final Path DATA = Path.of("examples", "data", "debian-packages");

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--port", paramLabel = "N", description = "Port to listen on, 0 for any free one; default 8080.")
    private int port = 8080;

    @Option(names = "--host", paramLabel = "H", description = "Address to bind; default 127.0.0.1.")
    private String host = "127.0.0.1";

    @Option(names = "--tables", paramLabel = "N", description = "Take the N largest sections only; default all.")
    private int tables = Integer.MAX_VALUE;

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
        BenchCommand.require("--tables", tables, 1, Integer.MAX_VALUE);
        ServeSettings settings = ServeSettings.DEFAULT
                .withHost(host, System.getenv("ROOST_TOKEN"))
                .withPort(port);
        TopologyReader machine = topology == null
                ? TopologyReader.live()
                : TopologyReader.synthetic(topology).onThisSystem(true);
        Path home = Path.of(System.getProperty("roost.home", ""));
        new PackageService(settings, machine.read(), streams.err()).run(home.resolve(DATA), tables);
        return 0;
    }
}
