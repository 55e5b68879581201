package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.server.ServeBench;
import io.github.roost.server.ServeBench.Point;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench serve}: goodput against offered load. */
@Command(name = "serve", description = "Requests answered and shed by the HTTP service, below and above its capacity.")
final class ServeBenchCommand implements Callable<Integer> {
    private static final Path DATA = Path.of("examples", "data", "debian-packages");

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "Time per load, and per measurement of the capacity before it; default 3.")
    private int seconds = 3;

    @Option(
            names = "--load",
            paramLabel = "X",
            split = ",",
            description = "Offered loads, as multiples of the capacity; default 0.5,1,1.5,2.")
    private List<Double> loads = List.of(.5, 1., 1.5, 2.);

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds of all loads; default 5.")
    private int rounds = 5;

    @Option(names = "--tables", paramLabel = "N", description = "Use only the N largest sections; default all.")
    private int tables = Integer.MAX_VALUE;

    @Option(names = "--json", description = "Every figure as JSON instead of a table.")
    private boolean json;

    ServeBenchCommand(Streams streams) {
        this.streams = streams;
    }

    /** All rounds of one load. */
    record Outcome(double timesCapacity, List<Point> rounds) {
        Samples of(ToDoubleFunction<Point> figure) {
            return Samples.of(rounds.stream().map(figure::applyAsDouble).toList());
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchCommand.require("--seconds", seconds, 1, 3_600);
        BenchCommand.require("--rounds", rounds, 1, 1_000);
        BenchCommand.require("--tables", tables, 1, Integer.MAX_VALUE);
        if (loads.isEmpty()) {
            throw new CommandFailure("--load must name at least one load, got none");
        }
        for (double load : loads) {
            if (!(load > 0 && load <= 100)) {
                throw new CommandFailure("--load must be above 0 and at most 100, got " + load);
            }
        }
        DebianPackages all = DebianPackages.read(
                Path.of(System.getProperty("roost.home", "")).resolve(DATA));
        DebianPackages data =
                all.largestSections(Math.min(tables, all.sections().size()));
        streams.err().println("... building " + data.sections().size() + " tables");
        try (ServeBench bench = new ServeBench(data, TopologyReader.live().read(), built -> {})) {
            report(measure(bench));
        }
        return 0;
    }

    private List<Outcome> measure(ServeBench bench) throws InterruptedException {
        Duration length = Duration.ofSeconds(seconds);
        streams.err().println("... warming up");
        bench.at(1, length);
        List<Outcome> outcomes =
                loads.stream().map(load -> new Outcome(load, new ArrayList<>())).toList();
        for (int i = 0; i < rounds; i++) {
            streams.err().println("... round " + (i + 1) + " of " + rounds);
            for (Outcome outcome : outcomes) {
                outcome.rounds().add(bench.at(outcome.timesCapacity(), length));
            }
        }
        return outcomes;
    }

    private void report(List<Outcome> outcomes) throws IOException {
        if (json) {
            streams.out()
                    .println(new ObjectMapper()
                            .writerWithDefaultPrettyPrinter()
                            .writeValueAsString(Map.of("seconds", seconds, "loads", outcomes)));
            return;
        }
        streams.out()
                .println("load  capacity/s  answers over capacity: median (min to max)    shed/s  other/s"
                        + "   p50 ms   p99 ms");
        for (Outcome outcome : outcomes) {
            Samples kept = outcome.of(point -> point.goodput() / point.capacity());
            streams.out()
                    .println("%4.1f  %10.0f  %22.2f (%.2f to %.2f) %15.0f %8.0f %8.1f %8.1f"
                            .formatted(
                                    outcome.timesCapacity(),
                                    outcome.of(Point::capacity).median(),
                                    kept.median(),
                                    kept.least(),
                                    kept.most(),
                                    outcome.of(Point::shed).median(),
                                    outcome.of(Point::otherwise).median(),
                                    outcome.of(point -> point.latencies().p50us())
                                                    .median()
                                            / 1_000,
                                    outcome.of(point -> point.latencies().p99us())
                                                    .median()
                                            / 1_000));
        }
    }
}
