package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.LocalNode;
import io.github.roost.testkit.opensearch.SearchClient;
import io.github.roost.testkit.opensearch.SearchClient.Reply;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Three real processes, the Java agent on, one index of 3 shards and a replica of each. Tests go on from one another. */
@Tag("program")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClusterTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final int KILLED = 1;
    private static final int PER_BULK = 50;

    /** Far more than are written: they are made as they are needed, so that only their vectors are held. */
    private final Corpus corpus = new Corpus(40_000, 16, 5);

    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private LocalCluster cluster;

    @BeforeAll
    void startThreeNodes() throws IOException {
        cluster = LocalCluster.start(CHECKOUT, 3, "512m", 0, Map.of());
        cluster.client().put("/birds", """
                        {"settings":{"index.roost.enabled":true,"number_of_shards":3,"number_of_replicas":1,
                                     "index.unassigned.node_left.delayed_timeout":"1s",
                                     "index.compound_format":false,"index.use_compound_file":false},
                         "mappings":{"properties":{
                           "v":{"type":"roost_vector","dimension":16,"similarity":"euclidean"},
                           "b":{"type":"roost_vector","dimension":16,"element_type":"byte"},
                           "l":{"type":"roost_vector","dimension":16,"format":"lucene_hnsw"},
                           "word":{"type":"text"},"number":{"type":"integer"}}}}""").ok();
        cluster.node(0).awaitGreen(3, PATIENCE);
    }

    @AfterAll
    void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    @Order(1)
    void aNodeThatIsKilledUnderLoadTakesNothingAcknowledgedWithItAndSearchesGoOn() throws IOException {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger written = new AtomicInteger();
        AtomicInteger searches = new AtomicInteger();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            while (!over.get() && written.get() + PER_BULK <= corpus.size()) {
                write(cluster.node(written.get() / PER_BULK % 2 * 2).client(), written.getAndAdd(PER_BULK));
            }
        });
        CompletableFuture<Void> searching = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                nearest(cluster.node(2).client(), corpus.vector(0), 10).ok();
                searches.incrementAndGet();
            }
        });
        try {
            await(() -> acknowledged.size() >= 1_000 || writing.isDone());
            cluster.node(KILLED).kill();
            int before = acknowledged.size();
            int searchesBefore = searches.get();
            await(() -> (acknowledged.size() >= before + 1_000 && searches.get() >= searchesBefore + 20)
                    || writing.isDone()
                    || searching.isDone());
        } finally {
            over.set(true);
        }
        writing.join();
        searching.join();
        cluster.node(0).awaitGreen(2, PATIENCE);
        assertThat(present(0)).containsAll(acknowledged);
        assertFindsTheNearest(2);
    }

    @Test
    @Order(2)
    void theKilledNodeComesBackAndGetsItsShards() throws IOException {
        LocalNode back = cluster.node(KILLED);
        back.start();
        back.awaitGreen(3, PATIENCE);
        await(() -> shardsOf("n" + KILLED) > 0);
        back.awaitGreen(3, PATIENCE);
        assertThat(present(KILLED)).containsAll(acknowledged);
        assertFindsTheNearest(KILLED);
    }

    @Test
    @Order(3)
    void aNodeThatIsRestartedMissesNothing() throws IOException {
        restart(0, () -> {});
        assertThat(present(0)).containsAll(acknowledged);
        assertFindsTheNearest(0);
        JsonNode stats = cluster.client().get("/_plugins/_roost/stats").ok();
        assertThat(stats.at("/_nodes/successful").asInt()).isEqualTo(3);
    }

    @Test
    @Order(3)
    void aDamagedCopyOfAShardIsReplacedByAWholeOne() throws IOException {
        Path data = cluster.node(2).data();
        Map<Path, Long> damaged = new HashMap<>();
        restart(2, () -> {
            for (Path graph : graphs(data)) {
                try (RandomAccessFile file = new RandomAccessFile(graph.toFile(), "rw")) {
                    file.setLength(file.length() / 2);
                    damaged.put(graph, file.length());
                }
            }
        });
        assertThat(damaged).isNotEmpty();
        await(() -> shardsOf("n2") > 0);
        cluster.node(2).awaitGreen(3, PATIENCE);
        await(() -> damaged.entrySet().stream()
                .noneMatch(file -> file.getKey().toFile().length() == file.getValue()));
        assertThat(graphs(data)).isNotEmpty();
        assertThat(present(2)).containsAll(acknowledged);
        assertFindsTheNearest(2);
    }

    private interface WhileDown {
        void run() throws IOException;
    }

    /** Restarts a node; meanwhile the others find what they found before. */
    private void restart(int number, WhileDown whileDown) throws IOException {
        LocalNode node = cluster.node(number);
        node.stop();
        whileDown.run();
        assertFindsTheNearest(KILLED);
        node.start();
        node.awaitGreen(3, PATIENCE);
    }

    private static List<Path> graphs(Path data) throws IOException {
        try (Stream<Path> files = Files.walk(data)) {
            return files.filter(file -> file.toString().endsWith(".vex")).toList();
        }
    }

    /** Words and meaning over all shards: two searches, their ranks fused as docs/guide/opensearch.md says. */
    @Test
    @Order(4)
    void wordsAndMeaningAreFusedByRank() throws IOException {
        Set<String> present = present(0);
        float[] vector = corpus.vector(2);
        List<String> words = List.of(Corpus.word(0), Corpus.word(3));
        String byWords = "{\"size\":50,\"_source\":false,\"query\":{\"match\":{\"word\":\"%s\"}}}"
                .formatted(String.join(" ", words));
        String byMeaning = """
                {"size":50,"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"k":50,"effort":50000}}}}""".formatted(Arrays.toString(vector));
        JsonNode both = cluster.client().search(List.of(byWords, byMeaning), "birds");
        List<List<String>> rankings = new ArrayList<>();
        both.path("responses").forEach(response -> rankings.add(new Reply(200, response).ids()));
        List<String> nearest = corpus.nearest(vector, 50, id -> present.contains(Integer.toString(id)));
        assertThat(distances(vector, rankings.get(1))).isEqualTo(distances(vector, nearest));
        assertThat(rankings.get(0)).hasSize(50).allMatch(id -> words.contains(Corpus.word(Integer.parseInt(id))));
        List<String> fused = fuse(rankings, 100);
        assertThat(fused)
                .containsAll(rankings.get(0))
                .containsAll(rankings.get(1))
                .doesNotHaveDuplicates();
        // What both searches found comes before what either found at a worse rank than both.
        for (String id : rankings.get(0)) {
            int meaning = rankings.get(1).indexOf(id);
            if (meaning >= 0) {
                String worse = rankings.get(1).getLast();
                assertThat(fused.indexOf(id)).isLessThanOrEqualTo(fused.indexOf(worse));
            }
        }
    }

    @Test
    @Order(4)
    void aBatchOfSearchesOverAllShardsFindsWhatEachSearchFinds() {
        SearchClient client = cluster.node(2).client();
        String vectors = IntStream.range(0, 5)
                .mapToObj(query -> Arrays.toString(corpus.vector(query)))
                .collect(Collectors.joining(",", "[", "]"));
        JsonNode lists = client.batch("birds", """
                {"query":{"roost_knn":{"v":{"vectors":%s,"k":10,"effort":50000}}}}""".formatted(vectors));
        assertThat(lists).hasSize(5);
        for (int query = 0; query < 5; query++) {
            float[] vector = corpus.vector(query);
            assertThat(distances(vector, ids(lists.get(query))))
                    .isEqualTo(distances(vector, nearest(client, vector, 10).ids()));
        }
    }

    @Test
    @Order(4)
    void aFilterAndALeastScoreHoldInAllShards() {
        Set<String> present = present(1);
        SearchClient client = cluster.node(1).client();
        float[] vector = corpus.vector(4);
        List<String> wrens = corpus.nearest(
                vector, 10, id -> Corpus.word(id).equals("wren") && present.contains(Integer.toString(id)));
        String query = """
                {"size":10,"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"k":10,"effort":50000,
                 "filter":{"match":{"word":"wren"}}%s}}}}""";
        Reply all = client.post("/birds/_search", query.formatted(Arrays.toString(vector), ""));
        assertThat(distances(vector, all.ids())).isEqualTo(distances(vector, wrens));
        double least = all.scores().get(4);
        Reply best = client.post("/birds/_search", query.formatted(Arrays.toString(vector), ",\"min_score\":" + least));
        assertThat(best.ids())
                .isEqualTo(all.ids().stream()
                        .limit(all.scores().stream()
                                .filter(score -> score >= least)
                                .count())
                        .toList());
        JsonNode lists = client.batch("birds", """
                {"query":{"roost_knn":{"v":{"vectors":[%s],"k":10,"effort":50000,
                 "filter":{"match":{"word":"wren"}}}}}}""".formatted(Arrays.toString(vector)));
        assertThat(distances(vector, ids(lists.get(0)))).isEqualTo(distances(vector, wrens));
    }

    /** Whichever node is asked: the one that manages the cluster, those with the document's shard, and others. */
    @Test
    @Order(4)
    void whatCannotBeIsRefusedByEachNodeWithItsReasonAndChangesNothing() {
        Set<String> present = present(0);
        for (int node = 0; node < 3; node++) {
            SearchClient client = cluster.node(node).client();
            assertRefused(
                    client.put("/never", mapping("\"dimension\":5000")),
                    "dimension must be a whole number between 1 and 4096, got 5000");
            assertRefused(
                    client.put("/never", mapping("\"dimension\":4,\"element_type\":\"half\"")),
                    "element_type must be one of float, byte, got half");
            assertThat(client.get("/never").status()).isEqualTo(404);
            assertRefused(
                    client.put(
                            "/birds/_mapping", "{\"properties\":{\"v\":{\"type\":\"roost_vector\",\"dimension\":16}}}"),
                    "Cannot update parameter [similarity] from [euclidean] to [cosine]");
            assertRefused(
                    client.put("/birds/_settings", "{\"index.roost.enabled\":false}"),
                    "Can't update non dynamic settings [[index.roost.enabled]]");
            assertRefusesDocuments(client);
            assertRefusesSearches(client);
        }
        assertThat(present(0)).isEqualTo(present);
        assertFindsTheNearest(0);
    }

    private static String mapping(String parameters) {
        return """
                {"settings":{"index.roost.enabled":true},
                 "mappings":{"properties":{"v":{"type":"roost_vector",%s}}}}""".formatted(parameters);
    }

    /** Enough documents of each kind that every shard gets some. */
    private void assertRefusesDocuments(SearchClient client) {
        Map<String, String> reasons = Map.of(
                "\"v\":[1,2]",
                "must have 16 dimensions, got 2",
                "\"v\":" + Corpus.base64(notANumber()),
                "must be finite, got NaN in dimension 3",
                "\"l\":" + Arrays.toString(new float[16]),
                "must not be zero: it has no cosine",
                "\"b\":" + Arrays.toString(tooMuchForAByte()),
                "must have whole numbers between -128 and 127, got 128.0 in dimension 0");
        List<String> expected = new ArrayList<>();
        StringBuilder bulk = new StringBuilder();
        reasons.forEach((field, reason) -> {
            for (int i = 0; i < 20; i++) {
                expected.add(reason);
                bulk.append("{\"index\":{}}\n{").append(field).append("}\n");
            }
        });
        JsonNode items = client.post("/birds/_bulk", bulk.toString()).ok().path("items");
        assertThat(items).hasSize(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            JsonNode item = items.get(i).path("index");
            assertThat(item.path("status").asInt()).as(item.toString()).isEqualTo(400);
            assertThat(item.toString()).contains(expected.get(i));
        }
    }

    private void assertRefusesSearches(SearchClient client) {
        String vector = Arrays.toString(corpus.vector(0));
        Map<String, String> reasons = Map.of(
                "\"v\":{\"vector\":[1,2]}",
                "must have 16 dimensions, got 2",
                "\"v\":{\"vector\":" + Corpus.base64(notANumber()) + "}",
                "must be finite, got NaN in dimension 3",
                "\"l\":{\"vector\":" + Arrays.toString(new float[16]) + "}",
                "must not be zero: it has no cosine",
                "\"v\":{\"vector\":" + vector + ",\"k\":10001}",
                "k must be between 1 and 10,000, got 10,001",
                "\"w\":{\"vector\":" + vector + "}",
                "there is no field [w] in index [birds]");
        reasons.forEach((field, reason) -> {
            String body = "{\"query\":{\"roost_knn\":{" + field + "}}}";
            assertRefused(client.post("/birds/_search", body), reason);
            assertRefused(client.post("/_plugins/_roost/search/birds", body), reason);
        });
    }

    private static void assertRefused(Reply refused, String reason) {
        assertThat(refused.status()).as(refused.body().toString()).isEqualTo(400);
        assertThat(refused.body().toString()).contains(reason);
    }

    private static float[] notANumber() {
        float[] vector = new float[16];
        vector[3] = Float.NaN;
        return vector;
    }

    private static float[] tooMuchForAByte() {
        float[] vector = new float[16];
        vector[0] = 128;
        return vector;
    }

    /** All nodes write to one folder, as they would to a network file system. */
    @Test
    @Order(5)
    void aSnapshotOfAllShardsIsRestored() throws IOException {
        Set<String> present = present(0);
        SearchClient client = cluster.client();
        client.put(
                        "/_snapshot/shared",
                        "{\"type\":\"fs\",\"settings\":{\"location\":\"%s\"}}".formatted(cluster.snapshots()))
                .ok();
        JsonNode taken = client.put("/_snapshot/shared/one?wait_for_completion=true", "{\"indices\":\"birds\"}")
                .ok();
        assertThat(taken.at("/snapshot/state").asText()).isEqualTo("SUCCESS");
        assertThat(taken.at("/snapshot/shards/successful").asInt()).isEqualTo(3);
        write(client, corpus.size() - PER_BULK);
        client.delete("/birds").ok();
        JsonNode restored = client.post(
                        "/_snapshot/shared/one/_restore?wait_for_completion=true", "{\"indices\":\"birds\"}")
                .ok();
        assertThat(restored.at("/snapshot/shards/successful").asInt()).isEqualTo(3);
        cluster.node(0).awaitGreen(3, PATIENCE);
        for (int node = 0; node < 3; node++) {
            assertThat(present(node)).isEqualTo(present);
            assertFindsTheNearest(node);
        }
    }

    private static List<String> ids(JsonNode list) {
        List<String> ids = new ArrayList<>();
        list.path("hits").forEach(hit -> ids.add(hit.path("_id").asText()));
        return ids;
    }

    /** Writes some documents; those that the cluster says it has are acknowledged. */
    private void write(SearchClient client, int from) {
        try {
            Reply reply = client.post("/birds/_bulk", corpus.bulk(from, from + PER_BULK));
            if (reply.status() == 200) {
                for (JsonNode item : reply.body().path("items")) {
                    if (item.path("index").path("status").asInt() == 201) {
                        acknowledged.add(item.path("index").path("_id").asText());
                    }
                }
            }
        } catch (UncheckedIOException unanswered) {
            // Then nothing of it was acknowledged.
        }
    }

    private static Reply nearest(SearchClient client, float[] vector, int k) {
        return client.post("/birds/_search?preference=_local", """
                {"size":%d,"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"k":%d,"effort":50000}}}}""".formatted(k, Arrays.toString(vector), k));
    }

    /** The ids that the index has. */
    private Set<String> present(int node) {
        SearchClient client = cluster.node(node).client();
        // A node that has just stopped is not known to have left at once.
        await(() -> {
            Reply refreshed = client.post("/birds/_refresh", "");
            return refreshed.status() == 200
                    && refreshed.body().at("/_shards/failed").asInt(1) == 0;
        });
        Set<String> ids = new HashSet<>();
        for (int from = 0; from < corpus.size(); from += 10_000) {
            ids.addAll(client.post("/birds/_search", """
                            {"size":10000,"_source":false,"query":{"range":{"number":{"gte":%d,"lt":%d}}}}""".formatted(from, from + 10_000))
                    .ids());
        }
        return ids;
    }

    private void assertFindsTheNearest(int node) {
        SearchClient client = cluster.node(node).client();
        Set<String> present = present(node);
        for (int query = 0; query < 3; query++) {
            float[] vector = corpus.vector(query);
            // By distance, not by id: those as far from the vector as each other may come in any order.
            assertThat(distances(vector, nearest(client, vector, 10).ids()))
                    .isEqualTo(distances(
                            vector, corpus.nearest(vector, 10, id -> present.contains(Integer.toString(id)))));
        }
    }

    private List<Double> distances(float[] vector, List<String> ids) {
        return ids.stream()
                .map(id -> Corpus.squaredDistance(vector, corpus.vector(Integer.parseInt(id))))
                .toList();
    }

    private int shardsOf(String node) {
        int shards = 0;
        for (JsonNode shard :
                cluster.client().get("/_cat/shards/birds?format=json").ok()) {
            shards += shard.path("node").asText().equals(node)
                            && shard.path("state").asText().equals("STARTED")
                    ? 1
                    : 0;
        }
        return shards;
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it did not come about in " + PATIENCE);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    /**
     * Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009) of searches whose scores have no common scale: at most {@code max} ids
     * by descending sum of 1 / (60 + rank), ties in the order of the rankings.
     */
    private static List<String> fuse(List<List<String>> rankings, int max) {
        Map<String, Double> scores = new LinkedHashMap<>();
        for (List<String> ranking : rankings) {
            for (int i = 0; i < ranking.size(); i++) {
                scores.merge(ranking.get(i), 1 / (60. + i + 1), Double::sum);
            }
        }
        return scores.entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue()))
                .limit(max)
                .map(Map.Entry::getKey)
                .toList();
    }
}
