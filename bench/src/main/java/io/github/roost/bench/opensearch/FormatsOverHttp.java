package io.github.roost.bench.opensearch;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.SearchClient;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares the throughput of one node over HTTP for a field in Roost's format and fields in Lucene's formats at the same recall. All fields
 * belong to the same documents in the same segment. A search that matches nothing is measured too, as OpenSearch's own cost per search.
 */
public final class FormatsOverHttp implements AutoCloseable {
    private static final int PER_BULK = 500;
    private static final int WARM_UP = 2;
    private static final int[] EFFORTS = {
        10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80, 96, 113, 136, 160, 192, 226, 271, 320, 450, 640, 900, 1_280,
        2_560, 5_000, 10_000
    };

    private final LocalCluster cluster;
    private final List<Contender> contenders;
    private final float[][] queries;
    private final List<List<String>> truth;

    /** The searched field, by its format, or no field. */
    public enum Contender {
        /** Roost's format. */
        ROOST,
        /** Lucene's graph with float vectors. */
        LUCENE_HNSW,
        /** Lucene's scalar quantization to one byte per component; hits are rescored by the vectors. */
        LUCENE_INT8,
        /** Lucene's quantization to one bit per component; hits are rescored by the vectors. */
        LUCENE_BINARY,
        /** A search that matches nothing. */
        NOTHING;

        private String field() {
            return name().toLowerCase(Locale.ROOT);
        }

        private String search(float[] vector, int k, int effort) {
            return this == NOTHING
                    ? "{\"_source\":false,\"query\":{\"match_none\":{}}}"
                    : """
                    {"size":%d,"_source":false,"query":{"roost_knn":{"%s":{"vector":%s,"k":%d,"effort":%d}}}}""".formatted(k, field(), Arrays.toString(vector), k, effort);
        }
    }

    /**
     * The measurements of one contender at one recall.
     *
     * @param effort the smallest effort that reaches the recall
     * @param recall recall@k with it
     * @param runs one per round
     */
    public record Outcome(Contender contender, int effort, double recall, List<ClosedLoop.Run> runs) {
        /** Searches per second. */
        public Samples perSecond() {
            return Samples.of(runs.stream().map(ClosedLoop.Run::perSecond).toList());
        }

        /** Searches per second relative to another contender in the same round. */
        public Samples times(Outcome other) {
            return Samples.ratios(runs, other.runs, ClosedLoop.Run::perSecond);
        }
    }

    private FormatsOverHttp(
            LocalCluster cluster, List<Contender> contenders, float[][] queries, List<List<String>> truth) {
        this.cluster = cluster;
        this.contenders = contenders;
        this.queries = queries;
        this.truth = truth;
    }

    /**
     * Starts a node and fills an index, merged to one segment.
     *
     * @param checkout in which module opensearch has been packaged
     * @param maxK the largest k that will be searched, at least 1
     * @param contenders one field per contender, all in the same segment; {@link Contender#NOTHING} always takes part
     * @param progress receives progress messages
     */
    public static FormatsOverHttp start(
            Path checkout,
            int maxK,
            List<Contender> contenders,
            float[][] vectors,
            float[][] queries,
            Consumer<String> progress)
            throws IOException {
        progress.accept("comparing all vectors, for the ground truth");
        List<List<String>> truth = Arrays.stream(new ExactSearch(vectors).searchAll(queries, maxK))
                .map(FormatsOverHttp::ids)
                .toList();
        progress.accept("starting a node");
        LocalCluster cluster = LocalCluster.start(checkout, 1, "1g", 0, Map.of());
        try {
            String[] fields = contenders.stream()
                    .filter(contender -> contender != Contender.NOTHING)
                    .map(Contender::field)
                    .toArray(String[]::new);
            String properties = Arrays.stream(fields)
                    .map(field -> """
                            "%s":{"type":"roost_vector","similarity":"euclidean","dimension":%d,"format":"%s"}""".formatted(field, vectors[0].length, field))
                    .collect(Collectors.joining(","));
            cluster.client().put("/bench", """
                            {"settings":{"index.roost.enabled":true,"number_of_shards":1,"number_of_replicas":0,
                                         "refresh_interval":-1,"index.requests.cache.enable":false},
                             "mappings":{"_source":{"enabled":false,"recovery_source_enabled":false},"properties":{%s}}}""".formatted(properties)).ok();
            progress.accept("indexing %,d vectors in %d fields".formatted(vectors.length, fields.length));
            for (int from = 0; from < vectors.length; from += PER_BULK) {
                load(cluster.client(), fields, vectors, from, Math.min(from + PER_BULK, vectors.length));
            }
            progress.accept("merging to one segment");
            cluster.client().mergeToOne("bench");
            List<Contender> all = Stream.concat(contenders.stream(), Stream.of(Contender.NOTHING))
                    .distinct()
                    .toList();
            return new FormatsOverHttp(cluster, all, queries, truth);
        } catch (Throwable failure) {
            cluster.close();
            throw failure;
        }
    }

    private static List<String> ids(SearchResult neighbors) {
        return Arrays.stream(neighbors.ids()).mapToObj(Long::toString).toList();
    }

    private static void load(SearchClient client, String[] fields, float[][] vectors, int from, int to) {
        StringBuilder bulk = new StringBuilder();
        for (int row = from; row < to; row++) {
            String vector = Arrays.toString(vectors[row]);
            bulk.append("{\"index\":{\"_id\":\"").append(row).append("\"}}\n");
            bulk.append(Arrays.stream(fields)
                    .map(field -> '"' + field + "\":" + vector)
                    .collect(Collectors.joining(",", "{", "}\n")));
        }
        client.bulk("bench", bulk.toString());
    }

    /**
     * Measures all contenders that reach the recall in turns, forwards and backwards, after warm-up rounds.
     *
     * @param k number of neighbors per search, at most the maximum given at the start
     * @param recall target, from 0 to 1; each contender uses the smallest effort that reaches it
     * @param threads number of concurrent clients, each waiting for its answer
     * @param rounds number of measured rounds
     * @param slice time per contender and round
     * @throws ExecutionException if a search fails
     */
    public List<Outcome> measure(int k, double recall, int threads, int rounds, Duration slice)
            throws InterruptedException, ExecutionException {
        List<Outcome> outcomes = new ArrayList<>();
        for (Contender contender : contenders) {
            Outcome reached = minEffort(contender, k, recall);
            if (reached.recall() >= recall) {
                outcomes.add(reached);
            }
        }
        ClientThreads clients = new ClientThreads(threads);
        for (int round = -WARM_UP; round < rounds; round++) {
            for (Outcome outcome : round % 2 == 0 ? outcomes : outcomes.reversed()) {
                List<String> bodies = bodies(outcome, k);
                ClosedLoop.Run run = clients.run(
                        slice,
                        number -> cluster.client()
                                .post("/bench/_search", bodies.get(number % bodies.size()))
                                .ok());
                if (round >= 0) {
                    outcome.runs().add(run);
                }
            }
        }
        return outcomes;
    }

    private List<String> bodies(Outcome outcome, int k) {
        return Arrays.stream(queries)
                .map(query -> outcome.contender().search(query, k, outcome.effort()))
                .toList();
    }

    private Outcome minEffort(Contender contender, int k, double wanted) {
        double recall = contender == Contender.NOTHING ? 1 : 0;
        int effort = 0;
        for (int i = 0; i < EFFORTS.length && recall < wanted; i++) {
            if (EFFORTS[i] >= k) {
                effort = EFFORTS[i];
                recall = recall(contender, k, effort);
            }
        }
        return new Outcome(contender, effort, recall, new ArrayList<>());
    }

    private double recall(Contender contender, int k, int effort) {
        long found = 0;
        for (int query = 0; query < queries.length; query++) {
            List<String> ids = cluster.client()
                    .post("/bench/_search", contender.search(queries[query], k, effort))
                    .ids();
            found += truth.get(query).stream().limit(k).filter(ids::contains).count();
        }
        return (double) found / ((long) k * queries.length);
    }

    /** Stops the node. */
    @Override
    public void close() {
        cluster.close();
    }
}
