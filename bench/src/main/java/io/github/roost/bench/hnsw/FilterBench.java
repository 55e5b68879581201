package io.github.roost.bench.hnsw;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.Sweep;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.RoundOptions;
import io.github.roost.simulator.options.SeedOption;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: do filtered searches reach the recall of unfiltered ones at the same ef, and what do they cost? Measured on a fixed table, and on a
 * live one with rows that have no graph yet and tombstones, with a filter whose answers are cached, and on the fixed one also with a filter that is
 * asked in every search. The allowed rows are random, or are in some clusters of the rows; queries are spread evenly over all clusters.
 */
@Command(
        name = "filters",
        description = {
            "Recall and visited nodes of filtered searches of HNSW tables, compared with unfiltered ones of the same"
                    + " ef.",
            "The tables are a fixed and a live one. Exits with 1 if a filter loses more than .02 of recall."
        })
@SuppressWarnings("NullAway.Init")
public final class FilterBench implements Callable<Integer> {
    private static final int K = 10;
    private static final int CENTERS = 100;
    private static final int MERGE_AFTER = 2_048;
    /** The live table gets one deleted row per this many rows. */
    private static final int ROWS_PER_DEAD = 10;

    private static final double MAX_LOST = .02;
    private static final List<Double> SHARES = List.of(.5, .1, .01, .001);
    private static final double[] RECALLS = {.9, .95, .99};
    private static final List<Integer> WIDTHS = List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 240, 400, 800, 1_600);

    private final @Mixin NumberOption rows = NumberOption.rows(50_000, 10_000, 10_000_000);
    private final @Mixin NumberOption dimension = NumberOption.dimension(64, 1, 4_096);

    @Option(names = "--queries", paramLabel = "N", description = "Queries; default 500.")
    private int queries = 500;

    private final @Mixin NumberOption ef = NumberOption.ef(20, Vectors.MAX_EF);
    private final @Mixin SeedOption seed = new SeedOption(42);
    private final @Mixin RoundOptions rounds = new RoundOptions(3, 100);

    @Option(
            names = "--beside",
            description = {
                "Also searches per second at equal recall, on one thread, beside Lucene, a scan of the allowed rows,",
                "and a wider search whose results are filtered."
            })
    private boolean beside;

    private final @Mixin Output output = new Output();

    private float[][] vectors;
    private float[][] targets;
    private HnswTable fixed;
    private LiveTable live;

    @Override
    public Integer call() throws Exception {
        NumberOption.check(rows, dimension, ef);
        Options.require("--queries", queries, 1, 1_000_000);
        rounds.check();
        boolean well = true;
        try (Orchestrator orchestrator = Orchestrator.builder()
                .recallShare(0)
                .topology(TopologyReader.live().read())
                .build()) {
            build(orchestrator);
            output.format(
                    "%,d x %d, k=10, ef=%d; the live table has %d parts with a graph",
                    rows.value(), dimension.value(), ef.value(), live.graphParts());
            output.line("allowed                  fixed: recall   visited     us   asked: recall   visited     us"
                    + "   live: recall   visited     us");
            Outcome[] all = measure(Allowed.EVERYWHERE, 1);
            print("all", 1, all);
            for (Allowed allowed : Allowed.values()) {
                for (double share : SHARES) {
                    Outcome[] filtered = measure(allowed, share);
                    print(Options.name(allowed), share, filtered);
                    for (int table = 0; table < filtered.length; table++) {
                        well &= filtered[table].recall() >= all[table].recall() - MAX_LOST;
                    }
                }
            }
            if (beside) {
                compare();
            }
        }
        output.line(well ? "no filter loses more than .02" : "a filter loses more than .02");
        return well ? 0 : 1;
    }

    private void compare() throws Exception {
        Map<String, BitSet> filters = new LinkedHashMap<>();
        for (Allowed allowed : Allowed.values()) {
            for (double share : SHARES) {
                BitSet rowsOf = new BitSet();
                LongPredicate accepts = accepts(allowed, share);
                IntStream.range(0, vectors.length).filter(accepts::test).forEach(rowsOf::set);
                filters.put(Options.name(allowed) + " " + share, rowsOf);
            }
        }
        Sweep sweep = new Sweep(K, WIDTHS, RECALLS[RECALLS.length - 1], rounds.count(), rounds.slice(), rounds.slice());
        output.line("");
        output.line("| allowed | searches per second |"
                + Arrays.stream(RECALLS)
                        .mapToObj(recall -> " recall " + recall + " |")
                        .collect(Collectors.joining()));
        output.line("| --- | --- |" + " ---: |".repeat(RECALLS.length));
        try (FilteredPeers peers = new FilteredPeers(live, vectors, targets, ROWS_PER_DEAD, filters)) {
            for (Map.Entry<String, BitSet> filter : filters.entrySet()) {
                for (Curves.Curve curve :
                        peers.measure(filter.getKey(), filter.getValue(), sweep).curves()) {
                    output.line("| %s | %s |".formatted(filter.getKey(), curve.engine())
                            + Arrays.stream(RECALLS)
                                    .mapToObj(recall -> " " + rate(curve, recall) + " |")
                                    .collect(Collectors.joining()));
                }
            }
        }
    }

    /** What finds everything with every effort has one speed. */
    private static String rate(Curves.Curve curve, double recall) {
        boolean isExact = curve.points().getFirst().recall() == 1;
        return isExact
                ? "exact: " + Samples.of(curve.points().getFirst().rates()).spread("%,.0f")
                : curve.at(recall);
    }

    private void print(String allowed, double share, Outcome[] outcomes) {
        StringBuilder line = new StringBuilder("%-12s %8.3f".formatted(allowed, share));
        for (Outcome outcome : outcomes) {
            line.append(" %15.4f %9.0f %6.0f".formatted(outcome.recall(), outcome.visited(), outcome.micros()));
        }
        output.line(line.toString());
    }

    /** The distribution of the allowed rows. */
    public enum Allowed {
        /** Each row is allowed with the same probability. */
        EVERYWHERE,
        /** Rows of some clusters only. */
        CLUSTERS
    }

    /**
     * The result of one kind of filter on one table.
     *
     * @param recall share of the true neighbors among the allowed rows
     * @param visited mean number of nodes whose distance a search computes
     * @param micros mean time of a search in microseconds, on one thread
     */
    public record Outcome(double recall, double visited, double micros) {}

    /** Builds both tables. */
    void build(Orchestrator orchestrator) {
        SplittableRandom random = new SplittableRandom(seed.value());
        Mixture mixture = Mixture.of(CENTERS, dimension.value(), random);
        vectors = new float[rows.value()][];
        for (int row = 0; row < vectors.length; row++) {
            vectors[row] = mixture.drawAround(row % CENTERS, random);
        }
        targets = mixture.draw(queries, random);
        fixed = HnswTable.builder().build(orchestrator, vectors);
        live = liveTable(orchestrator);
    }

    /** Builds a live table of the same rows, half of them added one by one, with deleted rows spread over all clusters. */
    private LiveTable liveTable(Orchestrator orchestrator) {
        int half = vectors.length / 2;
        LiveTable table = LiveTable.builder()
                .mergeAfter(MERGE_AFTER)
                .build(orchestrator, LongStream.range(0, half).toArray(), Arrays.copyOf(vectors, half));
        for (int row = half; row < vectors.length; row++) {
            table.put(row, vectors[row]);
            if (row == vectors.length - MERGE_AFTER / 2) {
                table.merge();
            }
        }
        for (int row = 0; row < vectors.length; row += ROWS_PER_DEAD) {
            table.put(row + (long) vectors.length, vectors[row]);
            table.remove(row + (long) vectors.length);
        }
        return table;
    }

    /**
     * Measures one kind of filter.
     *
     * @param share of the rows that are allowed, over 0, at most 1; 1 for no filter
     * @return the results of the fixed table with a cached filter, of the same with one that is asked, and of the live one with a cached one
     */
    Outcome[] measure(Allowed allowed, double share) throws Exception {
        LongPredicate accepts = accepts(allowed, share);
        int[] ordinals =
                IntStream.range(0, vectors.length).filter(accepts::test).toArray();
        float[][] these = Arrays.stream(ordinals).mapToObj(row -> vectors[row]).toArray(float[][]::new);
        SearchResult[] truth = new ExactSearch(these).searchAll(targets, Math.min(K, these.length));
        IdFilter asked = share < 1 ? IdFilter.of(accepts) : IdFilter.all();
        IdFilter cached = asked.cached();
        int effort = ef.value();
        return new Outcome[] {
            measure(fixed.searchFunction(K, effort, cached), truth),
            measure(fixed.searchFunction(K, effort, asked), truth),
            measure(live.searchFunction(K, effort, cached), truth)
        };
    }

    private static LongPredicate accepts(Allowed allowed, double share) {
        if (allowed == Allowed.EVERYWHERE) {
            return id -> chance(id) < share;
        }
        int clusters = (int) Math.max(1, Math.round(share * CENTERS));
        return id -> id % CENTERS < clusters && chance(id) < share * CENTERS / clusters;
    }

    private static double chance(long id) {
        return new SplittableRandom(id).nextDouble();
    }

    private Outcome measure(SearchFunction<float[], SearchResult> search, SearchResult[] truth) throws Exception {
        DistanceRecall recall = new DistanceRecall();
        long[] visited = new long[1];
        SearchContext context = SearchContext.outside((nodes, bytes) -> visited[0] += nodes);
        SearchResult[] found = new SearchResult[targets.length];
        // The first search evaluates a cached filter.
        search.search(targets[0], SearchContext.outside((nodes, bytes) -> {}));
        long began = System.nanoTime();
        for (int query = 0; query < targets.length; query++) {
            found[query] = search.search(targets[query], context);
        }
        double micros = (System.nanoTime() - began) / 1e3 / targets.length;
        for (int query = 0; query < targets.length; query++) {
            recall.add(truth[query], found[query]);
        }
        return new Outcome(recall.share(), (double) visited[0] / targets.length, micros);
    }
}
