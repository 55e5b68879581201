package io.github.roost.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.lucene.LuceneBench;
import io.github.roost.bench.lucene.LuceneBench.Contender;
import io.github.roost.bench.lucene.LuceneBench.Outcome;
import io.github.roost.bench.lucene.LuceneBench.Workload;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.packages.DebianPackages;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench lucene}: Lucene's searcher on Roost, compared with the JDK's pools. */
@Command(
        name = "lucene",
        description = "Lucene searches of the Debian packages for many clients: segments run by Roost, a fixed pool,"
                + " ForkJoinPool, or the clients alone.")
final class LuceneBenchCommand implements Callable<Integer> {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LUCENE_LOG = Logger.getLogger("org.apache.lucene");

    private static final int MAX_SECTIONS = 58;

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Mixin
    private final LevelOption level = new LevelOption();

    @Option(
            names = "--workload",
            paramLabel = "vectors|words|fused",
            split = ",",
            description = "Kinds of queries; default all, one after another.")
    private List<Workload> workloads = List.of(Workload.values());

    @Option(
            names = "--clients",
            paramLabel = "N",
            split = ",",
            description = "Concurrent searching threads; default 64.")
    private List<Integer> clients = List.of(64);

    @Option(names = "--segments", paramLabel = "N", split = ",", description = "Segments of the index; default 8.")
    private List<Integer> segments = List.of(8);

    @Option(names = "--sections", paramLabel = "N", description = "Debian's N largest sections; default all 58.")
    private int sections = MAX_SECTIONS;

    @Option(names = "--rounds", paramLabel = "N", description = "Measured rounds; default 5.")
    private int rounds = 5;

    @Option(names = "--slice-millis", paramLabel = "N", description = "Time per contender and round; default 2000.")
    private int sliceMillis = 2_000;

    @Option(names = "--json", description = "Every figure of every round as JSON instead of a table.")
    private boolean json;

    LuceneBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        check();
        LUCENE_LOG.setLevel(Level.WARNING);
        Path home = Path.of(System.getProperty("roost.home", "."));
        DebianPackages packages = DebianPackages.read(home.resolve("data/debian-packages"))
                .largestSections(sections);
        List<Map<String, Object>> all = new ArrayList<>();
        for (int count : segments) {
            try (LuceneBench bench = new LuceneBench(packages, count, level.machine())) {
                for (int threads : clients) {
                    say("%,d packages in %d segments, written in %.1f s; %d clients, %d rounds"
                            .formatted(
                                    packages.packages().size(),
                                    count,
                                    bench.writing().toMillis() / 1e3,
                                    threads,
                                    rounds));
                    List<Outcome> outcomes = new ArrayList<>();
                    for (Workload workload : workloads) {
                        List<Outcome> measured =
                                bench.measure(workload, threads, rounds, Duration.ofMillis(sliceMillis));
                        outcomes.addAll(measured);
                        print(workload, measured);
                    }
                    all.add(Map.of(
                            "packages",
                            packages.packages().size(),
                            "segments",
                            count,
                            "clients",
                            threads,
                            "outcomes",
                            outcomes));
                }
            }
        }
        if (json) {
            streams.out()
                    .println(new ObjectMapper()
                            .writerWithDefaultPrettyPrinter()
                            .writeValueAsString(all.size() == 1 ? all.getFirst() : all));
        }
        return 0;
    }

    private void say(String line) {
        if (!json) {
            streams.out().println(line);
        }
    }

    private void check() {
        clients.forEach(count -> BenchCommand.require("--clients", count, 1, 4_096));
        segments.forEach(count -> BenchCommand.require("--segments", count, 1, 1_000));
        BenchCommand.require("--sections", sections, 1, MAX_SECTIONS);
        BenchCommand.require("--rounds", rounds, 1, 10_000);
        BenchCommand.require("--slice-millis", sliceMillis, 1, 60_000);
    }

    private void print(Workload workload, List<Outcome> outcomes) {
        if (json) {
            return;
        }
        Outcome forkJoin = outcomes.get(Contender.FORK_JOIN.ordinal());
        streams.out().println();
        streams.out()
                .println("%-16s %28s %30s %22s %22s %26s"
                        .formatted(
                                name(workload),
                                "searches/s (min to max)",
                                "ratio to fork_join, same round",
                                "of the best",
                                "p50 us",
                                "p99 us"));
        for (Outcome outcome : outcomes) {
            Samples times = outcome.times(forkJoin);
            streams.out()
                    .println("%-16s %28s %30s %22s %22s %26s"
                            .formatted(
                                    name(outcome.contender()),
                                    spread("%.0f", Samples.of(outcome.perSecond())),
                                    spread("%.2f", times),
                                    spread("%.2f", outcome.ofTheBest(outcomes)),
                                    spread("%.0f", Samples.of(outcome.p50us())),
                                    spread("%.0f", Samples.of(outcome.p99us()))));
        }
    }

    private static String spread(String figure, Samples samples) {
        return (figure + " (" + figure + " to " + figure + ")")
                .formatted(samples.median(), samples.least(), samples.most());
    }

    private static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
