package io.github.roost.cli;

import io.github.roost.bench.hnsw.FilterBench;
import io.github.roost.bench.hnsw.FilterBench.Allowed;
import io.github.roost.bench.hnsw.FilterBench.Outcome;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Vectors;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code roost bench filters}: recall and cost of filtered searches. */
@Command(
        name = "filters",
        description = {
            "Recall and visited nodes of filtered searches of HNSW tables, compared with unfiltered ones of the same ef.",
            "The tables are a frozen and a live one. Exits with 1 if a filter loses more than .02 of recall."
        })
final class FilterBenchCommand implements Callable<Integer> {
    private static final double MAX_LOST = .02;
    private static final List<Double> SHARES = List.of(.5, .1, .01, .001);

    private final Streams streams;

    @Mixin
    private final HelpOption help = new HelpOption();

    @Option(names = "--rows", paramLabel = "N", description = "Rows of each table, a mixture; default 50000.")
    private int rows = 50_000;

    @Option(names = "--dimension", paramLabel = "N", description = "Dimension of the rows; default 64.")
    private int dimension = 64;

    @Option(names = "--queries", paramLabel = "N", description = "Queries; default 500.")
    private int queries = 500;

    @Option(names = "--ef", paramLabel = "N", description = "ef of the searches, for 10 neighbours; default 20.")
    private int ef = 20;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of rows and queries; default 42.")
    private long seed = 42;

    FilterBenchCommand(Streams streams) {
        this.streams = streams;
    }

    @Override
    public Integer call() throws Exception {
        BenchCommand.require("--rows", rows, 10_000, 10_000_000);
        BenchCommand.require("--dimension", dimension, 1, 4_096);
        BenchCommand.require("--queries", queries, 1, 1_000_000);
        BenchCommand.require("--ef", ef, 10, Vectors.MAX_EF);
        boolean well = true;
        try (FilterBench bench = new FilterBench(TopologyReader.live().read(), rows, dimension, queries, ef, seed)) {
            streams.out()
                    .printf(
                            Locale.ROOT,
                            "%,d x %d, k=10, ef=%d; the live table has %d parts with a graph%n",
                            rows,
                            dimension,
                            ef,
                            bench.frozenParts());
            streams.out().println("allowed                 frozen: recall   visited   live: recall   visited");
            Outcome[] all = bench.measure(Allowed.EVERYWHERE, 1);
            print("all", 1, all);
            for (Allowed allowed : Allowed.values()) {
                for (double share : SHARES) {
                    Outcome[] filtered = bench.measure(allowed, share);
                    print(allowed.name().toLowerCase(Locale.ROOT), share, filtered);
                    for (int table = 0; table < filtered.length; table++) {
                        well &= filtered[table].recall() >= all[table].recall() - MAX_LOST;
                    }
                }
            }
        }
        streams.out().println(well ? "no filter loses more than .02" : "a filter loses more than .02");
        return well ? 0 : 1;
    }

    private void print(String allowed, double share, Outcome[] outcomes) {
        streams.out()
                .printf(
                        Locale.ROOT,
                        "%-12s %8.3f %16.4f %9.0f %14.4f %9.0f%n",
                        allowed,
                        share,
                        outcomes[0].recall(),
                        outcomes[0].visited(),
                        outcomes[1].recall(),
                        outcomes[1].visited());
    }
}
