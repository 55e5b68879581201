package io.github.roost.bench.live;

import io.github.roost.bench.DistanceRecall;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Question: does a live table lose any row under a mixed load of nine searches per change, and does it reach the recall of a fresh build of the same
 * rows? Clients check every answer as far as they know the rows. After each stretch of the load all ids are checked, and recall is compared with a
 * fresh build.
 */
public final class LiveLoad {
    /** Neighbours per search. */
    public static final int K = 10;
    /** Max loss of recall compared with a fresh build. */
    public static final double MAX_RECALL_LOST = .01;

    private static final int CENTRES = 100;
    /** Ids checked by one search of the whole table. */
    private static final int BLOCK = 5_000;

    private final Topology topology;
    private final Settings settings;

    /**
     * The settings of the load.
     *
     * @param rows initial number; it stays about the same
     * @param dimension of the rows, a {@link Mixture}
     * @param clients threads that search and change rows, each one operation at a time
     * @param ef of the searches
     * @param queries number of queries whose recall is measured
     * @param seed of rows, queries and the clients' choices; the interleaving of threads still varies
     */
    public record Settings(int rows, int dimension, int clients, int ef, int queries, long seed) {}

    /**
     * One stretch of the load and the results of the checks after it.
     *
     * @param length of the load, without the checks
     * @param searches completed
     * @param changes rows inserted, replaced and removed, about as many each
     * @param looks searches for a certain live row
     * @param missed looks that missed a row found by a search of all rows
     * @param rows at its end
     * @param frozenParts at its end
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
            int frozenParts,
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

    /** @param topology the machine */
    public LiveLoad(Topology topology, Settings settings) {
        this.topology = topology;
        this.settings = settings;
    }

    /**
     * Runs the load.
     *
     * @param load total duration, without the checks
     * @param stretches number of equal parts of the load
     * @param done receives each stretch
     */
    public Report run(Duration load, int stretches, Consumer<Stretch> done) throws Exception {
        SplittableRandom random = new SplittableRandom(settings.seed());
        Mixture mixture = Mixture.of(CENTRES, settings.dimension(), random);
        float[][] first = mixture.draw(settings.rows(), random);
        float[][] queries = mixture.draw(settings.queries(), random);
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(topology).build();
                LiveTable table = LiveTable.builder()
                        .build(
                                orchestrator,
                                IntStream.range(0, first.length).asLongStream().toArray(),
                                first)) {
            List<LiveClient> clients = clients(table, mixture, first, random);
            List<String> violations = new ArrayList<>();
            List<Stretch> all = new ArrayList<>();
            for (int i = 0; i < stretches && violations.isEmpty(); i++) {
                Counts before = Counts.of(clients);
                Duration length = load(clients, load.dividedBy(stretches));
                clients.forEach(client -> violations.addAll(client.violations()));
                TreeMap<Long, float[]> rows = new TreeMap<>();
                clients.forEach(client -> rows.putAll(client.rows()));
                new RollCall(table, rows).complainTo(violations);
                Counts counts = Counts.of(clients).less(before);
                all.add(measured(orchestrator, table, rows, queries, length, counts));
                done.accept(all.getLast());
            }
            return new Report(orchestrator.workers(), all, violations);
        }
    }

    private List<LiveClient> clients(LiveTable table, Mixture mixture, float[][] first, SplittableRandom random) {
        List<LiveClient> clients = new ArrayList<>();
        for (int number = 0; number < settings.clients(); number++) {
            LiveClient client =
                    new LiveClient(table, mixture, K, settings.ef(), number, settings.clients(), random.split());
            for (int id = number; id < first.length; id += settings.clients()) {
                client.own(id, first[id]);
            }
            clients.add(client);
        }
        return clients;
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
        int frozenParts = table.frozenParts();
        float[][] vectors = rows.values().toArray(float[][]::new);
        SearchResult[] truth = new ExactSearch(vectors).searchAll(queries, K);
        DistanceRecall recall = new DistanceRecall();
        DistanceRecall freshRecall = new DistanceRecall();
        for (int query = 0; query < queries.length; query++) {
            recall.add(
                    truth[query], table.search(queries[query], K, settings.ef()).join());
        }
        try (HnswTable fresh = HnswTable.builder().name("fresh").build(orchestrator, vectors)) {
            for (int query = 0; query < queries.length; query++) {
                freshRecall.add(
                        truth[query],
                        fresh.search(queries[query], K, settings.ef()).join());
            }
        }
        return new Stretch(
                length,
                counts.searches(),
                counts.changes(),
                counts.looks(),
                counts.missed(),
                rows.size(),
                frozenParts,
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
