package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.cli.demo.Demo;
import io.github.roost.cli.demo.DemoReport;
import io.github.roost.cli.demo.DemoSettings;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost demo}. */
@Command(
        name = "demo",
        description =
                "Searches the packages of Debian 12 by meaning: builds an HNSW table per section and an IVF table of"
                        + " all, answers phrases, and measures a skewed workload.")
final class DemoCommand implements Callable<Integer> {
    private static final int MAX_SECONDS = 3_600;
    private static final int MAX_K = 100;

    private final Streams streams;

    @Option(
            names = "--seconds",
            defaultValue = "5",
            paramLabel = "N",
            description = "Length of the workload, from 1 to 3,600; default ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--k",
            defaultValue = "10",
            paramLabel = "K",
            description = "Neighbors per query, from 1 to 100; default ${DEFAULT-VALUE}.")
    private int k;

    @Option(names = "--tables", paramLabel = "N", description = "Use only the N largest sections; default all 58.")
    private @Nullable Integer tables;

    @Option(
            names = "--topology",
            paramLabel = "S",
            description = "Simulate the cache domains of an hwloc synthetic description, such as"
                    + " \"pack:1 l3:2 core:1 pu:1\", on the real CPUs.")
    private @Nullable String topology;

    @Mixin
    private final ReserveCoresOption reserved = new ReserveCoresOption();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    DemoCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Options.require("--seconds", seconds, 1, MAX_SECONDS);
        Options.require("--k", k, 1, MAX_K);
        if (tables != null) {
            Options.require("--tables", tables, 1, Integer.MAX_VALUE);
        }
        reserved.reserve(topology);
        Path data = RoostHome.packages();
        DemoReport report = new Demo(
                        new DemoSettings(data, seconds, k, tables == null ? 0 : tables, json, topology), streams)
                .run();
        if (json) {
            streams.out().println(new ObjectMapper().writeValueAsString(report));
        }
        return report.workersJoined() ? 0 : 1;
    }
}
