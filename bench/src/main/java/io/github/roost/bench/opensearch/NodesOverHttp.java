package io.github.roost.bench.opensearch;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.SearchClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Compares clusters of one, two and three nodes with the same index of three shards: the cost of a search over several nodes. All nodes share
 * this machine's cores, so more nodes add communication but no cores.
 */
public final class NodesOverHttp implements AutoCloseable {
    private static final int SHARDS = 3;
    private static final int K = 10;
    private static final int PER_BULK = 500;
    private static final String INDEX = "bench";

    private final List<LocalCluster> clusters = new ArrayList<>();
    private final String[] bodies;

    /**
     * The measurements of one cluster.
     *
     * @param nodes number of nodes of the cluster
     * @param runs one per round
     */
    public record Outcome(int nodes, List<ClosedLoop.Run> runs) {
        /** Searches per second. */
        public Samples perSecond() {
            return Samples.of(runs.stream().map(ClosedLoop.Run::perSecond).toList());
        }

        /** The 99th percentile of the latency, in milliseconds. */
        public Samples p99() {
            return Samples.of(
                    runs.stream().map(run -> run.latencies().p99us() / 1e3).toList());
        }

        /** Searches per second relative to another cluster in the same round. */
        public Samples times(Outcome other) {
            return Samples.ratios(runs, other.runs, ClosedLoop.Run::perSecond);
        }
    }

    private NodesOverHttp(String[] bodies) {
        this.bodies = bodies;
    }

    /**
     * Starts one cluster per size, all at the same time, and fills an index in each, merged to one segment per shard.
     *
     * @param checkout in which module opensearch has been packaged
     * @param sizes numbers of nodes, from 1 to 3
     * @param effort of each search
     * @param progress receives progress messages
     */
    public static NodesOverHttp start(
            Path checkout,
            List<Integer> sizes,
            float[][] vectors,
            float[][] queries,
            int effort,
            Consumer<String> progress)
            throws IOException {
        NodesOverHttp bench = new NodesOverHttp(Arrays.stream(queries)
                .map(query -> """
                        {"size":%d,"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"k":%d,"effort":%d}}}}""".formatted(K, Arrays.toString(query), K, effort))
                .toArray(String[]::new));
        try {
            for (int nodes : sizes) {
                progress.accept("starting a cluster of %d".formatted(nodes));
                LocalCluster cluster = LocalCluster.start(checkout, nodes, "512m", 0, Map.of());
                bench.clusters.add(cluster);
                progress.accept("indexing %,d vectors".formatted(vectors.length));
                fill(cluster, vectors);
            }
            return bench;
        } catch (Throwable failure) {
            bench.close();
            throw failure;
        }
    }

    private static void fill(LocalCluster cluster, float[][] vectors) throws IOException {
        SearchClient client = cluster.client();
        client.put("/" + INDEX, """
                        {"settings":{"index.roost.enabled":true,"number_of_shards":%d,"number_of_replicas":0,
                                     "refresh_interval":-1,"index.requests.cache.enable":false},
                         "mappings":{"_source":{"enabled":false},"properties":{
                           "v":{"type":"roost_vector","similarity":"euclidean","dimension":%d}}}}""".formatted(SHARDS, vectors[0].length)).ok();
        for (int from = 0; from < vectors.length; from += PER_BULK) {
            StringBuilder bulk = new StringBuilder();
            for (int row = from; row < Math.min(from + PER_BULK, vectors.length); row++) {
                bulk.append("{\"index\":{\"_id\":\"").append(row).append("\"}}\n{\"v\":");
                bulk.append(Arrays.toString(vectors[row])).append("}\n");
            }
            client.bulk(INDEX, bulk.toString());
        }
        client.mergeToOne(INDEX);
    }

    /**
     * Measures all clusters in turns, forwards and backwards, after warm-up rounds. Clients query the nodes in turn.
     *
     * @param threads number of concurrent clients, each waiting for its answer
     * @param rounds number of measured rounds
     * @param slice time per cluster and round
     * @throws ExecutionException if a search fails
     */
    public List<Outcome> measure(int threads, int rounds, Duration slice)
            throws InterruptedException, ExecutionException {
        List<Outcome> outcomes = new ArrayList<>();
        clusters.forEach(cluster -> outcomes.add(new Outcome(cluster.nodes(), new ArrayList<>())));
        ClientThreads clients = new ClientThreads(threads);
        for (int round = -2; round < rounds; round++) {
            for (int turn = 0; turn < clusters.size(); turn++) {
                int number = round % 2 == 0 ? turn : clusters.size() - 1 - turn;
                LocalCluster cluster = clusters.get(number);
                ClosedLoop.Run run = clients.run(
                        slice,
                        search -> cluster.node(search % cluster.nodes())
                                .client()
                                .post("/" + INDEX + "/_search", bodies[search % bodies.length])
                                .ok());
                if (round >= 0) {
                    outcomes.get(number).runs().add(run);
                }
            }
        }
        return outcomes;
    }

    /** Stops the nodes. */
    @Override
    public void close() {
        clusters.forEach(LocalCluster::close);
    }
}
