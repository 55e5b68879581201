package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.SearchClient;
import io.github.roost.testkit.opensearch.SearchClient.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Searches for all documents near enough, and exact ones, on a real node: several shards and segments, a part of the documents deleted,
 * some without vectors.
 */
@Tag("program")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RadialSearchTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final int DIMENSION = 8;
    private static final int DELETED_EVERY = 7;

    private final Corpus corpus = new Corpus(3_600, DIMENSION, 23);
    private LocalCluster cluster;
    private SearchClient client;

    /** A field of the index. */
    private enum Field {
        EUCLIDEAN("\"similarity\":\"euclidean\""),
        EUCLIDEAN_BYTES("\"similarity\":\"euclidean\",\"element_type\":\"byte\""),
        EUCLIDEAN_LUCENE("\"similarity\":\"euclidean\",\"format\":\"lucene_hnsw\""),
        COSINE("\"similarity\":\"cosine\""),
        COSINE_BYTES("\"similarity\":\"cosine\",\"element_type\":\"byte\""),
        DOT_PRODUCT("\"similarity\":\"dot_product\""),
        DOT_PRODUCT_BYTES("\"similarity\":\"dot_product\",\"element_type\":\"byte\""),
        MAXIMUM_INNER_PRODUCT("\"similarity\":\"maximum_inner_product\""),
        MAXIMUM_INNER_PRODUCT_BYTES("\"similarity\":\"maximum_inner_product\",\"element_type\":\"byte\"");

        private final String mapping;

        Field(String parameters) {
            this.mapping =
                    "\"" + this + "\":{\"type\":\"roost_vector\",\"dimension\":" + DIMENSION + "," + parameters + "}";
        }

        /** The vector in this field. */
        float[] of(float[] vector) {
            float[] own = vector.clone();
            if (this == DOT_PRODUCT) {
                for (int i = 0; i < own.length; i++) {
                    own[i] /= (float) Math.sqrt(inner(vector, vector));
                }
            }
            return own;
        }

        double distance(float[] a, float[] b) {
            return switch (this) {
                case EUCLIDEAN, EUCLIDEAN_BYTES, EUCLIDEAN_LUCENE -> Corpus.squaredDistance(a, b);
                case COSINE, COSINE_BYTES -> 1 - inner(a, b) / Math.sqrt(inner(a, a) * inner(b, b));
                default -> -inner(of(a), of(b));
            };
        }

        private static double inner(float[] a, float[] b) {
            return IntStream.range(0, a.length)
                    .mapToDouble(i -> (double) a[i] * b[i])
                    .sum();
        }
    }

    @BeforeAll
    void startANodeAndFillAnIndex() throws IOException {
        cluster = LocalCluster.start(
                CHECKOUT,
                1,
                "512m",
                0,
                Map.of("search.concurrent_segment_search.mode", "all", "search.concurrent.max_slice_count", "4"));
        client = cluster.client();
        List<String> mappings = new ArrayList<>();
        for (Field field : Field.values()) {
            mappings.add(field.mapping);
        }
        client.put("/near", """
                {"settings":{"index.roost.enabled":true,"number_of_shards":2,"number_of_replicas":0,"refresh_interval":-1},
                 "mappings":{"properties":{%s,"word":{"type":"keyword"},"number":{"type":"integer"}}}}""".formatted(String.join(",", mappings))).ok();
        for (int from = 0; from < corpus.size(); from += 1_200) {
            client.bulk("near", bulk(from, from + 1_200));
            client.post("/near/_refresh", "").ok();
        }
        // A segment without vectors in each shard that gets one of these.
        client.bulk("near", "{\"index\":{}}\n{\"word\":\"owl\"}\n".repeat(8));
        client.bulk(
                "near",
                IntStream.range(0, corpus.size())
                        .filter(id -> id % DELETED_EVERY == 0)
                        .mapToObj(id -> "{\"delete\":{\"_id\":\"" + id + "\"}}\n")
                        .reduce("", String::concat));
        client.post("/near/_refresh", "").ok();
    }

    private String bulk(int from, int to) {
        StringBuilder bulk = new StringBuilder();
        for (int id = from; id < to; id++) {
            bulk.append("{\"index\":{\"_id\":\"").append(id).append("\"}}\n{");
            for (Field field : Field.values()) {
                bulk.append('"').append(field).append("\":");
                bulk.append(Arrays.toString(field.of(corpus.vector(id)))).append(',');
            }
            bulk.append("\"word\":\"").append(Corpus.word(id)).append("\",\"number\":");
            bulk.append(id).append("}\n");
        }
        return bulk.toString();
    }

    @AfterAll
    void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    /** The documents that are left, nearest first. */
    private List<Integer> nearest(Field field, float[] query, IntPredicate admitted) {
        double[] distances = IntStream.range(0, corpus.size())
                .mapToDouble(id -> field.distance(query, corpus.vector(id)))
                .toArray();
        return IntStream.range(0, corpus.size())
                .filter(id -> id % DELETED_EVERY != 0)
                .filter(admitted)
                .boxed()
                .sorted(Comparator.comparingDouble(id -> distances[id]))
                .toList();
    }

    /** Between the document at a place and the next one. */
    private double between(Field field, float[] query, List<Integer> nearest, int place) {
        return (field.distance(query, corpus.vector(nearest.get(place - 1)))
                        + field.distance(query, corpus.vector(nearest.get(place))))
                / 2;
    }

    private String near(Field field, float[] query, String options) {
        return "{\"roost_knn\":{\"" + field + "\":{\"vector\":" + Arrays.toString(field.of(query)) + options + "}}}";
    }

    private Reply search(String query) {
        return search(query, "\"size\":5000");
    }

    private Reply search(String query, String more) {
        return client.post("/near/_search", "{\"_source\":false,\"query\":" + query + "," + more + "}");
    }

    private static Set<String> ids(List<Integer> documents) {
        Set<String> ids = new HashSet<>();
        documents.forEach(id -> ids.add(Integer.toString(id)));
        return ids;
    }

    private static void assertFinds(Reply found, List<Integer> expected) {
        assertThat(found.ids()).doesNotHaveDuplicates();
        assertThat(Set.copyOf(found.ids())).isEqualTo(ids(expected));
        assertThat(found.scores()).isSortedAccordingTo(Comparator.reverseOrder());
        assertThat(found.body().at("/hits/total/value").asInt()).isEqualTo(expected.size());
    }

    @ParameterizedTest
    @EnumSource
    void allWithinADistanceAreFoundAndNoOthers(Field field) {
        Map<String, IntPredicate> filters = Map.of(
                "", id -> true,
                ",\"filter\":{\"term\":{\"word\":\"wren\"}}",
                        id -> Corpus.word(id).equals("wren"),
                ",\"filter\":{\"range\":{\"number\":{\"gt\":3500}}}", id -> id > 3_500);
        for (int query = 0; query < 3; query++) {
            float[] vector = corpus.vector(query * 100 + 1);
            filters.forEach((filter, admits) -> {
                List<Integer> nearest = nearest(field, vector, admits);
                for (int count : List.of(1, 20, nearest.size() - 1)) {
                    String within = ",\"max_distance\":" + between(field, vector, nearest, count) + filter;
                    for (String how : List.of(",\"effort\":5000", ",\"exact\":true")) {
                        assertFinds(search(near(field, vector, within + how)), nearest.subList(0, count));
                    }
                }
            });
        }
    }

    /** More than are searched at first, and fewer. */
    @ParameterizedTest
    @EnumSource
    void aSearchOfTheGraphsFindsNearlyAll(Field field) {
        int found = 0;
        int expected = 0;
        for (int query = 0; query < 20; query++) {
            float[] vector = corpus.vector(query * 50 + 1);
            List<Integer> nearest = nearest(field, vector, id -> true);
            for (int count : List.of(1, 10, 100)) {
                Reply near = search(near(
                        field, vector, ",\"effort\":20,\"max_distance\":" + between(field, vector, nearest, count)));
                assertThat(ids(nearest.subList(0, count))).containsAll(near.ids());
                found += near.ids().size();
                expected += count;
            }
        }
        assertThat(found).isGreaterThan((int) (.95 * expected));
    }

    @ParameterizedTest
    @EnumSource
    void anExactSearchFindsTheNearest(Field field) {
        for (String filter : List.of("", ",\"filter\":{\"term\":{\"word\":\"wren\"}}")) {
            float[] vector = corpus.vector(15);
            List<Integer> nearest = nearest(
                    field, vector, id -> filter.isEmpty() || Corpus.word(id).equals("wren"));
            String exact = near(field, vector, ",\"k\":30,\"exact\":true" + filter);
            Reply found = search(exact, "\"size\":30");
            assertThat(distances(field, vector, found.ids()))
                    .isEqualTo(distances(
                            field,
                            vector,
                            nearest.stream().limit(30).map(String::valueOf).toList()));
            JsonNode batch = client.batch("near", "{\"query\":" + exact + "}");
            assertThat(batch.path(0).path("hits")).hasSize(30);
            assertThat(batch.at("/0/hits/29/_id").asText())
                    .isEqualTo(found.ids().getLast());
        }
    }

    /** Rounded, since documents whose scores are equal floats come in any order. */
    private List<Float> distances(Field field, float[] query, List<String> ids) {
        return ids.stream()
                .map(id -> (float) field.distance(query, corpus.vector(Integer.parseInt(id))))
                .toList();
    }

    /** The distance of a document itself, as the score of one. */
    @Test
    void theLimitIsWithin() {
        float[] vector = corpus.vector(33);
        List<Integer> nearest = nearest(Field.EUCLIDEAN, vector, id -> true);
        double distance = Corpus.squaredDistance(vector, corpus.vector(nearest.get(41)));
        List<Integer> within = nearest.stream()
                .filter(id -> Corpus.squaredDistance(vector, corpus.vector(id)) <= distance)
                .toList();
        String exact = ",\"exact\":true";
        Reply found = search(near(Field.EUCLIDEAN, vector, exact + ",\"max_distance\":" + distance));
        assertFinds(found, within);
        assertFinds(
                search(near(
                        Field.EUCLIDEAN,
                        vector,
                        exact + ",\"min_score\":" + found.scores().getLast())),
                within);
        assertThat(search(near(Field.EUCLIDEAN, vector, exact + ",\"max_distance\":0"))
                        .ids())
                .containsExactly("33");
        assertThat(search(near(Field.EUCLIDEAN, corpus.vector(0), exact + ",\"max_distance\":0"))
                        .ids())
                .isEmpty();
    }

    @Test
    void aDocumentNearToSeveralVectorsHasItsBestScore() {
        float[] one = corpus.vector(1);
        float[] two = corpus.vector(2);
        String vectors = "{\"roost_knn\":{\"EUCLIDEAN\":{\"vectors\":[" + Arrays.toString(one) + ","
                + Arrays.toString(two) + "],\"max_distance\":20000,\"effort\":5000}}}";
        Reply found = search(vectors);
        List<Integer> expected = nearest(
                Field.EUCLIDEAN,
                one,
                id -> Math.min(
                                Corpus.squaredDistance(one, corpus.vector(id)),
                                Corpus.squaredDistance(two, corpus.vector(id)))
                        <= 20_000);
        assertThat(expected).hasSizeGreaterThan(10);
        assertFinds(found, expected);
        for (int i = 0; i < found.ids().size(); i++) {
            float[] vector = corpus.vector(Integer.parseInt(found.ids().get(i)));
            double nearer = Math.min(Corpus.squaredDistance(one, vector), Corpus.squaredDistance(two, vector));
            assertThat(found.scores().get(i)).isCloseTo(1 / (1 + nearer), within(1e-6));
        }
    }

    /** In pages, sorted, counted, aggregated, combined, collapsed, rescored, named and boosted. */
    @ParameterizedTest
    @ValueSource(strings = {"effort\":5000", "exact\":true"})
    void itIsAQueryAsAnyOther(String how) {
        float[] vector = corpus.vector(77);
        List<Integer> nearest = nearest(Field.COSINE, vector, id -> true);
        List<Integer> near = nearest.subList(0, 500);
        List<String> order = near.stream().map(String::valueOf).toList();
        String query = near(
                Field.COSINE, vector, ",\"" + how + ",\"max_distance\":" + between(Field.COSINE, vector, nearest, 500));

        Reply page = search(query, "\"size\":10,\"from\":100,\"track_total_hits\":true");
        assertThat(page.ids()).isEqualTo(order.subList(100, 110));
        assertThat(page.body().at("/hits/total/value").asInt()).isEqualTo(500);
        assertThat(search(query, "\"size\":10,\"track_total_hits\":false").ids())
                .isEqualTo(order.subList(0, 10));
        assertThat(search(query, "\"size\":5,\"sort\":[{\"number\":\"asc\"}]").ids())
                .isEqualTo(near.stream().sorted().limit(5).map(String::valueOf).toList());

        JsonNode words = search(query, "\"size\":0,\"aggs\":{\"words\":{\"terms\":{\"field\":\"word\"}}}")
                .ok()
                .at("/aggregations/words/buckets");
        assertThat(words).hasSize(5);
        words.forEach(word -> assertThat(word.path("doc_count").asLong())
                .isEqualTo(near.stream()
                        .filter(id -> Corpus.word(id).equals(word.path("key").asText()))
                        .count()));

        String wren = "{\"term\":{\"word\":\"wren\"}}";
        List<Integer> wrens =
                near.stream().filter(id -> Corpus.word(id).equals("wren")).toList();
        assertFinds(search("{\"bool\":{\"must\":[" + query + "],\"filter\":[" + wren + "]}}"), wrens);
        assertFinds(
                search("{\"bool\":{\"must_not\":[" + query + "],\"filter\":[{\"exists\":{\"field\":\"COSINE\"}}]}}"),
                nearest.subList(500, nearest.size()));
        assertThat(search(query, "\"size\":10,\"collapse\":{\"field\":\"word\"}")
                        .ids())
                .hasSize(5)
                .startsWith(order.getFirst());
        assertThat(search(
                                "{\"match_all\":{}}",
                                "\"size\":10,\"rescore\":{\"window_size\":5000,\"query\":{\"query_weight\":0,\"rescore_query\":"
                                        + query + "}}")
                        .ids())
                .isEqualTo(order.subList(0, 10));

        String named = query.replace(",\"max_distance\"", ",\"_name\":\"near\",\"boost\":3,\"max_distance\"");
        JsonNode hits = search("{\"bool\":{\"should\":[" + named + "," + wren + "]}}")
                .ok()
                .at("/hits/hits");
        hits.forEach(hit -> assertThat(hit.path("matched_queries").toString())
                .isEqualTo(order.contains(hit.path("_id").asText()) ? "[\"near\"]" : ""));
        double first = search(query).scores().getFirst();
        assertThat(search(named).scores().getFirst()).isCloseTo(3 * first, within(1e-5));
    }

    @Test
    void anExplanationSaysWhetherADocumentIsNearEnough() {
        float[] vector = corpus.vector(78);
        List<Integer> nearest = nearest(Field.EUCLIDEAN, vector, id -> true);
        String query =
                near(Field.EUCLIDEAN, vector, ",\"max_distance\":" + between(Field.EUCLIDEAN, vector, nearest, 5));
        JsonNode hits = search(query, "\"explain\":true,\"size\":5").ok().at("/hits/hits");
        assertThat(hits).hasSize(5);
        hits.forEach(hit -> assertThat(hit.at("/_explanation/value").asDouble())
                .isEqualTo(hit.path("_score").asDouble()));
        JsonNode near = explained(nearest.get(4), query);
        assertThat(near.path("matched").asBoolean()).isTrue();
        assertThat(near.toString()).contains("among the vectors of score");
        JsonNode far = explained(nearest.get(5), query);
        assertThat(far.path("matched").asBoolean(true)).isFalse();
        assertThat(far.toString()).contains("not among the vectors of score");
    }

    private JsonNode explained(int document, String query) {
        return client.post("/near/_explain/" + document, "{\"query\":" + query + "}")
                .ok();
    }

    @Test
    void anIndexWithoutTheFieldHasNoHitsIfThatIsToBeIgnored() {
        String query = "{\"roost_knn\":{\"none\":{\"vector\":[1],\"max_distance\":3%s}}}";
        assertThat(search(query.formatted("")).status()).isEqualTo(400);
        assertThat(search(query.formatted(",\"ignore_unmapped\":true")).ids()).isEmpty();
    }

    @Test
    void aSearchThatWouldTakeTooMuchMemoryIsRefused() {
        String limit = "{\"transient\":{\"roost.breaker.limit\":%s}}";
        String query = near(Field.EUCLIDEAN, corpus.vector(0), ",\"max_distance\":100000");
        client.put("/_cluster/settings", limit.formatted("\"100b\"")).ok();
        Reply refused = search(query);
        client.put("/_cluster/settings", limit.formatted("null")).ok();
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body().toString())
                .contains("circuit_breaking_exception")
                .contains("[roost]");
        assertThat(search(query).ids()).isNotEmpty();
    }

    @Test
    void segmentsAreSearchedAtHomeWhereTheSettingSaysSo() {
        String setting = "{\"transient\":{\"roost.homes\":%s}}";
        float[] vector = corpus.vector(5);
        List<Integer> nearest = nearest(Field.EUCLIDEAN, vector, id -> true);
        String query = near(
                Field.EUCLIDEAN,
                vector,
                ",\"effort\":5000,\"max_distance\":" + between(Field.EUCLIDEAN, vector, nearest, 60));
        client.put("/_cluster/settings", setting.formatted("\"always\"")).ok();
        assertFinds(search(query), nearest.subList(0, 60));
        client.put("/_cluster/settings", setting.formatted("null")).ok();
    }
}
