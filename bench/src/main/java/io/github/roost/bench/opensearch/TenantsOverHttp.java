package io.github.roost.bench.opensearch;

import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.SearchClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures isolation of tenants: eight tenants, one index each, share a node with concurrent segment search, and one of them is hot. Compares the
 * latency of the other seven with slices in OpenSearch's own pool and on Roost's workers. The hot tenant's clients search all the time. The
 * others' searches are due at fixed times, and their latency counts from then, so waiting for the previous search is included.
 */
public final class TenantsOverHttp implements AutoCloseable {
    private static final int TENANTS = 8;
    private static final int SEGMENTS = 8;
    private static final int SIGNIFICANT_DIGITS = 3;
    private static final int K = 10;

    private final LocalCluster cluster;
    private final String[] bodies;

    /** The executor of slices. */
    public enum Pool {
        /** Roost's workers. */
        ROOST,
        /** OpenSearch's pool for slices. */
        INDEX_SEARCHER
    }

    /**
     * The measurements of one pool.
     *
     * @param seven latencies of the seven tenants' searches, one per round
     * @param hot searches per second of the hot tenant, one per round
     */
    public record Outcome(List<Latencies> seven, List<Double> hot) {
        /** The seven tenants' 99th percentile in milliseconds. */
        public Samples p99() {
            return Samples.of(seven.stream().map(round -> round.p99us() / 1e3).toList());
        }

        /** The seven tenants' median in milliseconds. */
        public Samples p50() {
            return Samples.of(seven.stream().map(round -> round.p50us() / 1e3).toList());
        }

        /** The seven tenants' 99th percentile relative to another pool in the same round. */
        public Samples p99Times(Outcome other) {
            return Samples.ratios(seven, other.seven, Latencies::p99us);
        }
    }

    private TenantsOverHttp(LocalCluster cluster, String[] bodies) {
        this.cluster = cluster;
        this.bodies = bodies;
    }

    /**
     * Starts a node and fills the indexes.
     *
     * @param checkout in which module opensearch has been packaged
     * @param vectors dealt out to all tenants
     * @param effort of each search
     * @param progress receives progress messages
     */
    public static TenantsOverHttp start(
            Path checkout, float[][] vectors, float[][] queries, int effort, Consumer<String> progress)
            throws IOException {
        progress.accept("starting a node");
        LocalCluster cluster = LocalCluster.start(
                checkout,
                1,
                "1g",
                0,
                Map.of("search.concurrent_segment_search.mode", "all", "search.concurrent.max_slice_count", "4"));
        try {
            int each = vectors.length / TENANTS;
            for (int tenant = 0; tenant < TENANTS; tenant++) {
                progress.accept("filling index %d of %d".formatted(tenant + 1, TENANTS));
                fill(cluster.client(), index(tenant), Arrays.copyOfRange(vectors, tenant * each, (tenant + 1) * each));
            }
            String[] bodies = Arrays.stream(queries)
                    .map(query -> """
                            {"size":%d,"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"k":%d,"effort":%d}}}}""".formatted(K, Arrays.toString(query), K, effort))
                    .toArray(String[]::new);
            return new TenantsOverHttp(cluster, bodies);
        } catch (Throwable failure) {
            cluster.close();
            throw failure;
        }
    }

    private static String index(int tenant) {
        return "tenant" + tenant;
    }

    /** Segments stay as they are flushed. */
    private static void fill(SearchClient client, String index, float[][] vectors) {
        client.put("/" + index, """
                        {"settings":{"index.roost.enabled":true,"number_of_shards":1,"number_of_replicas":0,
                                     "refresh_interval":-1,"index.merge.policy.segments_per_tier":50,
                                     "index.merge.policy.floor_segment":"1kb","index.requests.cache.enable":false},
                         "mappings":{"_source":{"enabled":false},"properties":{
                           "v":{"type":"roost_vector","similarity":"euclidean","dimension":%d}}}}""".formatted(vectors[0].length)).ok();
        for (int segment = 0; segment < SEGMENTS; segment++) {
            StringBuilder bulk = new StringBuilder();
            for (int row = segment; row < vectors.length; row += SEGMENTS) {
                bulk.append("{\"index\":{}}\n{\"v\":")
                        .append(Arrays.toString(vectors[row]))
                        .append("}\n");
            }
            client.bulk(index, bulk.toString());
            client.post("/" + index + "/_refresh", "").ok();
        }
    }

    /**
     * Measures both pools in turns, forwards and backwards, after a warm-up round.
     *
     * @param hotClients clients of the hot tenant, each searching all the time
     * @param perSecond searches per second of each other tenant
     * @param rounds number of measured rounds
     * @param slice time per pool and round
     * @throws ExecutionException if a search fails
     */
    public Map<Pool, Outcome> measure(int hotClients, int perSecond, int rounds, Duration slice)
            throws InterruptedException, ExecutionException {
        Map<Pool, Outcome> outcomes = new EnumMap<>(Pool.class);
        for (Pool pool : Pool.values()) {
            outcomes.put(pool, new Outcome(new ArrayList<>(), new ArrayList<>()));
        }
        for (int round = -1; round < rounds; round++) {
            List<Pool> order = List.of(Pool.values());
            for (Pool pool : round % 2 == 0 ? order : order.reversed()) {
                run(pool, hotClients, perSecond, slice, round < 0 ? null : outcomes.get(pool));
            }
        }
        return outcomes;
    }

    private void run(Pool pool, int hotClients, int perSecond, Duration slice, @Nullable Outcome outcome)
            throws InterruptedException, ExecutionException {
        cluster.client()
                .put(
                        "/_cluster/settings",
                        "{\"transient\":{\"roost.slices\":\"%s\"}}"
                                .formatted(pool.name().toLowerCase(Locale.ROOT)))
                .ok();
        long began = System.nanoTime();
        long end = began + slice.toNanos();
        List<Future<Histogram>> hot = new ArrayList<>();
        List<Future<Histogram>> seven = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 0; client < hotClients; client++) {
                int first = client;
                hot.add(clients.submit(() -> searchUntil(end, first)));
            }
            for (int tenant = 1; tenant < TENANTS; tenant++) {
                int number = tenant;
                seven.add(clients.submit(() -> searchAtTimes(began, end, number, perSecond)));
            }
        }
        if (outcome != null) {
            outcome.seven().add(Latencies.ofNanos(sum(seven)));
            outcome.hot().add(sum(hot).getTotalCount() / (slice.toNanos() / 1e9));
        }
    }

    private static Histogram sum(List<Future<Histogram>> clients) throws InterruptedException, ExecutionException {
        Histogram all = new Histogram(SIGNIFICANT_DIGITS);
        for (Future<Histogram> client : clients) {
            all.add(client.get());
        }
        return all;
    }

    private Histogram searchUntil(long end, int first) {
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        for (int number = first; System.nanoTime() < end; number++) {
            long began = System.nanoTime();
            search(0, number);
            nanos.recordValue(System.nanoTime() - began);
        }
        return nanos;
    }

    private Histogram searchAtTimes(long began, long end, int tenant, int perSecond) {
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        long apart = 1_000_000_000L / perSecond;
        int number = tenant;
        // Tenants start staggered, not all at once.
        for (long due = began + apart * tenant / TENANTS; due < end; due += apart) {
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            search(tenant, number++);
            nanos.recordValue(System.nanoTime() - due);
        }
        return nanos;
    }

    private void search(int tenant, int number) {
        cluster.client()
                .post("/" + index(tenant) + "/_search", bodies[number % bodies.length])
                .ok();
    }

    /** Stops the node. */
    @Override
    public void close() {
        cluster.close();
    }
}
