package io.github.roost.examples.opensearch;

import io.github.roost.bench.ClientThreads;
import io.github.roost.bench.ClosedLoop;
import io.github.roost.bench.ExactSearch;
import io.github.roost.bench.Samples;
import io.github.roost.core.Neighbors;
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
 * How many searches per second does a client get of one node, over HTTP, from a field in Roost's format and from one in Lucene's at
 * the same recall? Both fields are of the same documents in the same segment. What a search costs that looks for nothing stands
 * beside, for that part is OpenSearch's, whatever the format.
 */
public final class FormatsOverHttp implements AutoCloseable {
    private static final int K = 10;
    private static final int PER_BULK = 500;
    private static final int WARM_UP = 2;
    private static final int[] EFFORTS = {
        10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 57, 68, 80, 96, 113, 136, 160, 192, 226, 271, 320, 640, 1_280
    };

    private final LocalCluster cluster;
    private final float[][] queries;
    private final List<List<String>> truth;

    /** What is searched. */
    public enum Contender {
        /** The field in Roost's format. */
        ROOST("v"),
        /** The field in Lucene's. */
        LUCENE_HNSW("l"),
        /** No field: a search that matches nothing. */
        NOTHING("");

        private final String field;

        Contender(String field) {
            this.field = field;
        }

        private String body(float[] query, int effort) {
            return this == NOTHING
                    ? "{\"_source\":false,\"query\":{\"match_none\":{}}}"
                    : """
                    {"size":%d,"_source":false,"query":{"roost_knn":{"%s":{"vector":%s,"k":%d,"effort":%d}}}}""".formatted(K, field, Arrays.toString(query), K, effort);
        }
    }

    /**
     * What one contender did at one recall.
     *
     * @param effort the least one that reaches the recall
     * @param recall the recall with it, of the 10 nearest
     * @param runs one per round
     */
    public record Outcome(Contender contender, int effort, double recall, List<ClosedLoop.Run> runs) {
        /** Searches per second. */
        public Samples perSecond() {
            return Samples.of(runs.stream().map(ClosedLoop.Run::perSecond).toList());
        }

        /** Searches per second over those of another contender in the same round. */
        public Samples times(Outcome other) {
            List<Double> ratios = new ArrayList<>();
            for (int round = 0; round < runs.size(); round++) {
                ratios.add(runs.get(round).perSecond() / other.runs.get(round).perSecond());
            }
            return Samples.of(ratios);
        }
    }

    private FormatsOverHttp(LocalCluster cluster, float[][] queries, List<List<String>> truth) {
        this.cluster = cluster;
        this.queries = queries;
        this.truth = truth;
    }

    /**
     * Starts a node and fills an index, merged to one segment.
     *
     * @param checkout in which module opensearch has been packaged
     * @param progress told what is being done
     */
    public static FormatsOverHttp start(Path checkout, float[][] vectors, float[][] queries, Consumer<String> progress)
            throws IOException {
        progress.accept("comparing all vectors, for the truth");
        List<List<String>> truth = Arrays.stream(new ExactSearch(vectors).searchAll(queries, K))
                .map(FormatsOverHttp::ids)
                .toList();
        progress.accept("starting a node");
        LocalCluster cluster = LocalCluster.start(checkout, 1, "1g", 0, Map.of());
        try {
            String field = "{\"type\":\"roost_vector\",\"similarity\":\"euclidean\",\"dimension\":" + vectors[0].length;
            cluster.client().put("/bench", """
                            {"settings":{"index.roost.enabled":true,"number_of_shards":1,"number_of_replicas":0,
                                         "refresh_interval":-1,"index.requests.cache.enable":false},
                             "mappings":{"_source":{"enabled":false},
                                         "properties":{"v":%s},"l":%s,"format":"lucene_hnsw"}}}}""".formatted(field, field)).ok();
            progress.accept("indexing %,d vectors in two fields".formatted(vectors.length));
            for (int from = 0; from < vectors.length; from += PER_BULK) {
                load(cluster.client(), vectors, from, Math.min(from + PER_BULK, vectors.length));
            }
            progress.accept("merging to one segment");
            cluster.client().mergeToOne("bench");
            return new FormatsOverHttp(cluster, queries, truth);
        } catch (Throwable failure) {
            cluster.close();
            throw failure;
        }
    }

    private static List<String> ids(Neighbors neighbors) {
        return Arrays.stream(neighbors.ids()).mapToObj(Long::toString).toList();
    }

    private static void load(SearchClient client, float[][] vectors, int from, int to) {
        StringBuilder bulk = new StringBuilder();
        for (int row = from; row < to; row++) {
            String vector = Arrays.toString(vectors[row]);
            bulk.append("{\"index\":{\"_id\":\"").append(row).append("\"}}\n");
            bulk.append("{\"v\":")
                    .append(vector)
                    .append(",\"l\":")
                    .append(vector)
                    .append("}\n");
        }
        client.bulk("bench", bulk.toString());
    }

    /**
     * Measures all contenders in turns, forwards and backwards, after rounds that do not count.
     *
     * @param recall from 0 to 1, to be reached with the least effort that does
     * @param threads that search at once, each waiting for its answer
     * @param rounds how many count
     * @param slice time of each contender in a round
     * @throws ExecutionException if a search fails
     */
    public List<Outcome> measure(double recall, int threads, int rounds, Duration slice)
            throws InterruptedException, ExecutionException {
        List<Outcome> outcomes = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            outcomes.add(leastEffort(contender, recall));
        }
        ClientThreads clients = new ClientThreads(threads);
        for (int round = -WARM_UP; round < rounds; round++) {
            for (Outcome outcome : round % 2 == 0 ? outcomes : outcomes.reversed()) {
                String[] bodies = Arrays.stream(queries)
                        .map(query -> outcome.contender().body(query, outcome.effort()))
                        .toArray(String[]::new);
                ClosedLoop.Run run = clients.run(
                        slice,
                        number -> cluster.client()
                                .post("/bench/_search", bodies[number % bodies.length])
                                .ok());
                if (round >= 0) {
                    outcome.runs().add(run);
                }
            }
        }
        return outcomes;
    }

    private Outcome leastEffort(Contender contender, double wanted) {
        double recall = contender == Contender.NOTHING ? 1 : 0;
        int effort = 0;
        for (int i = 0; i < EFFORTS.length && recall < wanted; i++) {
            effort = EFFORTS[i];
            recall = recall(contender, effort);
        }
        return new Outcome(contender, effort, recall, new ArrayList<>());
    }

    private double recall(Contender contender, int effort) {
        long found = 0;
        for (int query = 0; query < queries.length; query++) {
            List<String> ids = cluster.client()
                    .post("/bench/_search", contender.body(queries[query], effort))
                    .ids();
            found += truth.get(query).stream().filter(ids::contains).count();
        }
        return (double) found / ((long) K * queries.length);
    }

    /** Ends the node. */
    @Override
    public void close() {
        cluster.close();
    }
}
