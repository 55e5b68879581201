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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many searches per second does a client get of one node, over HTTP, from a field in Roost's format and from those in Lucene's
 * at the same recall? All fields are of the same documents in the same segment. What a search costs that looks for nothing stands
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
    private final List<Contender> contenders;
    private final float[][] queries;
    private final List<List<String>> truth;

    /** What is searched: a field in a format, or none. */
    public enum Contender {
        /** Roost's format. */
        ROOST,
        /** Lucene's graph of floats. */
        LUCENE_HNSW,
        /** Lucene's scalar quantisation to a byte; hits are rescored by the vectors. */
        LUCENE_INT8,
        /** Lucene's quantisation to a bit; hits are rescored by the vectors. */
        LUCENE_BINARY,
        /** A search that matches nothing. */
        NOTHING;

        private String field() {
            return name().toLowerCase(Locale.ROOT);
        }

        private String body(float[] query, int effort) {
            return this == NOTHING
                    ? "{\"_source\":false,\"query\":{\"match_none\":{}}}"
                    : """
                    {"size":%d,"_source":false,"query":{"roost_knn":{"%s":{"vector":%s,"k":%d,"effort":%d}}}}""".formatted(K, field(), Arrays.toString(query), K, effort);
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
     * @param contenders a field each, all in the same segment; {@link Contender#NOTHING} takes part without being named
     * @param progress told what is being done
     */
    public static FormatsOverHttp start(
            Path checkout, List<Contender> contenders, float[][] vectors, float[][] queries, Consumer<String> progress)
            throws IOException {
        progress.accept("comparing all vectors, for the truth");
        List<List<String>> truth = Arrays.stream(new ExactSearch(vectors).searchAll(queries, K))
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
                             "mappings":{"_source":{"enabled":false},"properties":{%s}}}""".formatted(properties)).ok();
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

    private static List<String> ids(Neighbors neighbors) {
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
     * Measures all contenders that reach the recall in turns, forwards and backwards, after rounds that do not count.
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
        for (Contender contender : contenders) {
            Outcome outcome = leastEffort(contender, recall);
            if (outcome.recall() >= recall) {
                outcomes.add(outcome);
            }
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
