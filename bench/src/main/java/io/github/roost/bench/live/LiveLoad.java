package io.github.roost.bench.live;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.Output;
import io.github.roost.simulator.options.SeedOption;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Question: does a live table lose any row under a mixed load of nine searches per change, and does it reach the recall of a fresh build of the same
 * rows? Clients check every answer as far as they know the rows. After each stretch of the load all ids are checked, and recall is compared with a
 * fresh build.
 */
@Command(
        name = "live",
        description = {
            "A live table under nine searches per change: whether anything is lost, and recall compared with a fresh"
                    + " build.",
            "Exits with 1 if an acknowledged row is not found, a removed row is found, or recall is more than .01"
                    + " lower."
        })
public final class LiveLoad implements Callable<Integer> {
    /** Neighbors per search. */
    public static final int K = 10;
    /** Max loss of recall compared with a fresh build. */
    public static final double MAX_RECALL_LOST = .01;

    private static final int CENTERS = 100;
    /** Queries whose recall is measured. */
    private static final int QUERIES = 1_000;
    /** Ids checked by one search of the whole table. */
    private static final int BLOCK = 5_000;

    @Option(names = "--seconds", paramLabel = "N", description = "Length of the load, without checks; default 600.")
    private int seconds = 600;

    @Option(names = "--stretches", paramLabel = "N", description = "Number of checks of all rows; default 5.")
    private int stretches = 5;

    private final @Mixin NumberOption rows = NumberOption.rows(50_000, 1_000, 10_000_000);
    private final @Mixin NumberOption dimension = NumberOption.dimension(64, 1, 4_096);

    @Option(names = "--clients", paramLabel = "N", description = "Threads that search and change; default 4.")
    private int clients = 4;

    private final @Mixin NumberOption ef = NumberOption.ef(20, Vectors.MAX_EF);
    private final @Mixin SeedOption seed = new SeedOption(System.nanoTime());
    private final @Mixin Output output = new Output();

    @Override
    public Integer call() throws Exception {
        Options.require("--seconds", seconds, 1, 1_000_000);
        Options.require("--stretches", stretches, 1, 10_000);
        Options.require("--clients", clients, 1, 1_000);
        NumberOption.check(rows, dimension, ef);
        output.line("seed " + seed.value() + ", " + clients + " clients, k=" + K + ", ef=" + ef.value());
        output.line(" seconds  searches/s  changes/s     rows  parts   recall    fresh   missed by the graph");
        Report report = run(TopologyReader.live().read(), this::print);
        boolean well = report.violations().isEmpty();
        report.violations().forEach(output::line);
        for (Stretch stretch : report.stretches()) {
            double lost = stretch.freshRecall() - stretch.recall();
            if (lost > MAX_RECALL_LOST) {
                output.format("recall is %.4f below that of a fresh build", lost);
                well = false;
            }
        }
        if (well) {
            output.format(
                    "%d workers, %,d searches and %,d changes: nothing lost, recall kept",
                    report.workers(),
                    report.stretches().stream().mapToLong(Stretch::searches).sum(),
                    report.stretches().stream().mapToLong(Stretch::changes).sum());
        }
        return well ? 0 : 1;
    }

    private void print(Stretch stretch) {
        double length = stretch.length().toMillis() / 1e3;
        output.format(
                "%8.1f %11.0f %10.0f %8d %6d   %.4f   %.4f   %d of %d",
                length,
                stretch.searches() / length,
                stretch.changes() / length,
                stretch.rows(),
                stretch.graphParts(),
                stretch.recall(),
                stretch.freshRecall(),
                stretch.missed(),
                stretch.looks());
    }

    /**
     * One stretch of the load and the results of the checks after it.
     *
     * @param length of the load, without the checks
     * @param searches completed
     * @param changes rows inserted, replaced and removed, about as many each
     * @param looks searches for a certain live row
     * @param missed looks that missed a row found by a search of all rows
     * @param rows at its end
     * @param graphParts at its end
     * @param recall of the live table
     * @param freshRecall of a fresh build of the same rows
     */
    public record Stretch(
            Duration length,
            long searches,
            long changes,
            long looks,
            long missed,
            int rows,
            int graphParts,
            double recall,
            double freshRecall) {}

    /**
     * The result of the load.
     *
     * @param workers number of workers
     * @param stretches in order
     * @param violations descriptions of failed checks, empty if there were none
     */
    public record Report(int workers, List<Stretch> stretches, List<String> violations) {}

    /**
     * Runs the load.
     *
     * @param done receives each stretch
     */
    Report run(Topology topology, Consumer<Stretch> done) throws Exception {
        SplittableRandom random = new SplittableRandom(seed.value());
        Mixture mixture = Mixture.of(CENTERS, dimension.value(), random);
        float[][] first = mixture.draw(rows.value(), random);
        float[][] queries = mixture.draw(QUERIES, random);
        try (Orchestrator orchestrator =
                        Orchestrator.builder().recallShare(0).topology(topology).build();
                LiveTable table = LiveTable.builder()
                        .build(
                                orchestrator,
                                IntStream.range(0, first.length).asLongStream().toArray(),
                                first)) {
            List<LiveClient> running = clients(table, mixture, first, random);
            List<String> violations = new ArrayList<>();
            List<Stretch> all = new ArrayList<>();
            for (int i = 0; i < stretches && violations.isEmpty(); i++) {
                Counts before = Counts.of(running);
                Duration length = load(running, Duration.ofSeconds(seconds).dividedBy(stretches));
                running.forEach(client -> violations.addAll(client.violations()));
                TreeMap<Long, float[]> live = new TreeMap<>();
                running.forEach(client -> live.putAll(client.rows()));
                new RollCall(table, live).complainTo(violations);
                Counts counts = Counts.of(running).less(before);
                all.add(measured(orchestrator, table, live, queries, length, counts));
                done.accept(all.getLast());
            }
            return new Report(orchestrator.workers(), all, violations);
        }
    }

    private List<LiveClient> clients(LiveTable table, Mixture mixture, float[][] first, SplittableRandom random) {
        List<LiveClient> made = new ArrayList<>();
        for (int number = 0; number < clients; number++) {
            LiveClient client = new LiveClient(table, mixture, K, ef.value(), number, clients, random.split());
            for (int id = number; id < first.length; id += clients) {
                client.own(id, first[id]);
            }
            made.add(client);
        }
        return made;
    }

    private static Duration load(List<LiveClient> clients, Duration length)
            throws InterruptedException, ExecutionException {
        long began = System.nanoTime();
        try (ExecutorService threads = Executors.newFixedThreadPool(clients.size())) {
            List<Future<?>> running = new ArrayList<>();
            for (LiveClient client : clients) {
                running.add(threads.submit(() -> client.runUntil(began + length.toNanos())));
            }
            for (Future<?> client : running) {
                client.get();
            }
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private Stretch measured(
            Orchestrator orchestrator,
            LiveTable table,
            Map<Long, float[]> rows,
            float[][] queries,
            Duration length,
            Counts counts) {
        int graphParts = table.graphParts();
        float[][] vectors = rows.values().toArray(float[][]::new);
        SearchResult[] truth = new ExactSearch(vectors).searchAll(queries, K);
        DistanceRecall recall = new DistanceRecall();
        DistanceRecall freshRecall = new DistanceRecall();
        for (int query = 0; query < queries.length; query++) {
            recall.add(truth[query], table.search(queries[query], K, ef.value()).join());
        }
        try (HnswTable fresh = HnswTable.builder().name("fresh").build(orchestrator, vectors)) {
            for (int query = 0; query < queries.length; query++) {
                freshRecall.add(
                        truth[query],
                        fresh.search(queries[query], K, ef.value()).join());
            }
        }
        return new Stretch(
                length,
                counts.searches(),
                counts.changes(),
                counts.looks(),
                counts.missed(),
                rows.size(),
                graphParts,
                recall.share(),
                freshRecall.share());
    }

    /** Sums of the clients' counters since they began. */
    private record Counts(long searches, long changes, long looks, long missed) {
        static Counts of(List<LiveClient> clients) {
            return new Counts(
                    clients.stream().mapToLong(LiveClient::searches).sum(),
                    clients.stream().mapToLong(LiveClient::changes).sum(),
                    clients.stream().mapToLong(LiveClient::looks).sum(),
                    clients.stream().mapToLong(LiveClient::missed).sum());
        }

        Counts less(Counts before) {
            return new Counts(
                    searches - before.searches, changes - before.changes, looks - before.looks, missed - before.missed);
        }
    }

    /** Checks that a table without concurrent changes holds exactly the expected rows, by looking at every row. */
    private record RollCall(LiveTable table, TreeMap<Long, float[]> rows) {
        void complainTo(List<String> violations) {
            if (table.size() != rows.size()) {
                violations.add("the table says that it has " + table.size() + " rows, it must have " + rows.size());
            }
            Long[] ids = rows.keySet().toArray(Long[]::new);
            for (int from = 0; from < ids.length; from += BLOCK) {
                // The ranges cover all longs, so that unexpected ids are found too.
                long first = from == 0 ? Long.MIN_VALUE : ids[from];
                long last = from + BLOCK >= ids.length ? Long.MAX_VALUE : ids[from + BLOCK] - 1;
                block(first, last, violations);
            }
        }

        private void block(long first, long last, List<String> violations) {
            TreeMap<Long, float[]> missing = new TreeMap<>(rows.subMap(first, true, last, true));
            float[] origin = new float[table.dimension()];
            // An ef so large that every allowed row is compared.
            SearchResult found = table.search(SearchRequest.of(origin, 2 * BLOCK)
                            .effort(100_000)
                            .filter(IdFilter.of(id -> id >= first && id <= last)))
                    .join();
            for (int i = 0; i < found.size(); i++) {
                float[] vector = missing.remove(found.ids()[i]);
                if (vector == null) {
                    violations.add("id " + found.ids()[i] + " is in the table, but must not be");
                } else if (LiveClient.differ(found.distances()[i], squaredDistance(origin, vector))) {
                    violations.add("id " + found.ids()[i] + " does not have the row that was put last");
                }
            }
            if (!missing.isEmpty()) {
                violations.add(missing.size() + " rows are lost, among them id " + missing.firstKey());
            }
        }
    }

    static float squaredDistance(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - (double) b[i]) * (a[i] - (double) b[i]);
        }
        return (float) sum;
    }
}
