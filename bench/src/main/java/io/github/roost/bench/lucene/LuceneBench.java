package io.github.roost.bench.lucene;

import io.github.roost.bench.lucene.LuceneContenders.Contender;
import io.github.roost.bench.lucene.LuceneContenders.Outcome;
import io.github.roost.bench.lucene.LuceneContenders.Workload;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.LevelOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.testkit.packages.DebianPackages;
import java.util.ArrayList;
import java.util.List;
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
public final class LuceneBench implements Callable<Integer> {
    /** Lucene logs its vector instructions. Strong reference, since an unreferenced logger loses its level. */
    private static final Logger LUCENE_LOG = Logger.getLogger("org.apache.lucene");

    private static final int MAX_SECTIONS = 58;

    private final @Mixin LevelOption level = new LevelOption();

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

    private final @Mixin RoundOptions rounds = new RoundOptions(5, 2_000);
    private final @Mixin JsonOutput output = new JsonOutput();

    @Override
    public Integer call() throws Exception {
        check();
        LUCENE_LOG.setLevel(Level.WARNING);
        DebianPackages packages = DebianPackages.read(RoostHome.packages()).largestSections(sections);
        List<Map<String, Object>> all = new ArrayList<>();
        for (int count : segments) {
            try (LuceneContenders bench = new LuceneContenders(packages, count, level.machine())) {
                for (int threads : clients) {
                    output.format(
                            "%,d packages in %d segments, written in %.1f s; %d clients, %d rounds",
                            packages.packages().size(),
                            count,
                            bench.writing().toMillis() / 1e3,
                            threads,
                            rounds.count());
                    List<Outcome> outcomes = new ArrayList<>();
                    for (Workload workload : workloads) {
                        List<Outcome> measured = bench.measure(workload, threads, rounds.count(), rounds.slice());
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
        output.print(all.size() == 1 ? all.getFirst() : all);
        return 0;
    }

    private void check() {
        clients.forEach(count -> Options.require("--clients", count, 1, 4_096));
        segments.forEach(count -> Options.require("--segments", count, 1, 1_000));
        Options.require("--sections", sections, 1, MAX_SECTIONS);
        rounds.check();
    }

    private void print(Workload workload, List<Outcome> outcomes) {
        Outcome forkJoin = outcomes.get(Contender.FORK_JOIN.ordinal());
        output.line("");
        output.format(
                "%-16s %28s %30s %22s %22s %26s",
                Options.name(workload),
                "searches/s (min to max)",
                "ratio to fork_join, same round",
                "of the best",
                "p50 us",
                "p99 us");
        for (Outcome outcome : outcomes) {
            Samples times = outcome.times(forkJoin);
            output.format(
                    "%-16s %28s %30s %22s %22s %26s",
                    Options.name(outcome.contender()),
                    Samples.of(outcome.perSecond()).spread("%.0f"),
                    times.spread("%.2f"),
                    outcome.ofTheBest(outcomes).spread("%.2f"),
                    Samples.of(outcome.p50us()).spread("%.0f"),
                    Samples.of(outcome.p99us()).spread("%.0f"));
        }
    }
}
