package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.SearchClient;
import io.github.roost.testkit.opensearch.SearchClient.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Vectors in nested objects on a real node: the nearest documents are those with the nearest chunks, however many near chunks a document
 * has.
 */
@Tag("program")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NestedFieldTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final int DOCUMENTS = 90;
    private static final int CHUNKS = 20;
    private static final int DIMENSION = 8;
    private static final int K = 10;
    private static final List<String> COLORS = List.of("red", "green", "blue");
    private static final List<String> LANGUAGES = List.of("de", "en");

    private LocalCluster cluster;
    private SearchClient client;
    private final List<Chunk> chunks = new ArrayList<>();

    /** A nested object. */
    private record Chunk(int document, int number, float[] vector) {
        String color() {
            return COLORS.get(document % 3);
        }

        boolean hasTitle() {
            return document % 4 != 0;
        }

        String language() {
            return LANGUAGES.get(number % 2);
        }
    }

    /**
     * A filter.
     *
     * @param json what a user writes
     * @param admits whether it admits a chunk
     */
    private record Filter(String json, Predicate<Chunk> admits) {
        @Override
        public String toString() {
            return json;
        }
    }

    @BeforeAll
    void startANodeAndFillAnIndex() throws IOException {
        cluster = LocalCluster.start(CHECKOUT, 1, "512m", 0, Map.of());
        client = cluster.client();
        String vector = "{\"type\":\"roost_vector\",\"dimension\":8,\"similarity\":\"euclidean\"%s}";
        client.put("/texts", """
                {"settings":{"index.roost.enabled":true,"number_of_shards":2,"number_of_replicas":0},
                 "mappings":{"properties":{"color":{"type":"keyword"},"title":{"type":"keyword"},"whole":%1$s,
                  "included":{"type":"nested","include_in_root":true,"properties":{"v":%1$s}},
                  "parts":{"type":"nested","properties":{"lang":{"type":"keyword"},"v":%1$s,"b":%2$s,"q":%3$s}},
                  "tags":{"type":"nested","properties":{"name":{"type":"keyword"}}},
                  "chapters":{"type":"nested","properties":{"lang":{"type":"keyword"},
                   "parts":{"type":"nested","properties":{"v":%1$s}}}}}}}""".formatted(
                                vector.formatted(""),
                                vector.formatted(",\"element_type\":\"byte\""),
                                vector.formatted(",\"format\":\"lucene_int8\"")))
                .ok();
        fill();
        client.bulk("texts", bulk());
        client.post("/texts/_refresh", "").ok();
    }

    /** The chunks of a document are nearer to each other than to any other document's. */
    private void fill() {
        SplittableRandom random = new SplittableRandom(7);
        for (int document = 0; document < DOCUMENTS; document++) {
            float[] center = new float[DIMENSION];
            for (int i = 0; i < DIMENSION; i++) {
                center[i] = random.nextInt(-90, 91);
            }
            for (int number = 0; number < CHUNKS; number++) {
                float[] vector = center.clone();
                for (int i = 0; i < DIMENSION; i++) {
                    vector[i] += random.nextInt(-2, 3);
                }
                chunks.add(new Chunk(document, number, vector));
            }
        }
    }

    private String bulk() {
        StringBuilder bulk = new StringBuilder();
        for (int document = 0; document < DOCUMENTS; document++) {
            int id = document;
            List<Chunk> own =
                    chunks.stream().filter(chunk -> chunk.document == id).toList();
            bulk.append("{\"index\":{\"_id\":\"").append(id).append("\"}}\n{\"color\":\"");
            bulk.append(own.getFirst().color()).append('"');
            bulk.append(own.getFirst().hasTitle() ? ",\"title\":\"t\"" : "");
            bulk.append(",\"whole\":").append(Arrays.toString(own.getFirst().vector));
            bulk.append(",\"tags\":[{\"name\":\"")
                    .append(id % 5 == 0 ? "fifth" : "other")
                    .append("\"},{\"name\":\"all\"}]");
            bulk.append(",\"parts\":")
                    .append(own.stream()
                            .map(chunk -> "{\"lang\":\"%1$s\",\"v\":%2$s,\"b\":%2$s,\"q\":%2$s}"
                                    .formatted(chunk.language(), Arrays.toString(chunk.vector)))
                            .toList());
            bulk.append(",\"chapters\":")
                    .append(LANGUAGES.stream()
                            .map(language -> "{\"lang\":\"" + language + "\",\"parts\":"
                                    + own.stream()
                                            .filter(chunk -> chunk.language().equals(language))
                                            .map(chunk -> "{\"v\":" + Arrays.toString(chunk.vector) + "}")
                                            .toList()
                                    + "}")
                            .toList());
            bulk.append("}\n");
        }
        return bulk.toString();
    }

    @AfterAll
    void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private List<String> nearest(float[] query, Predicate<Chunk> admitted) {
        return chunks.stream()
                .filter(admitted)
                .sorted(Comparator.comparingDouble(chunk -> Corpus.squaredDistance(query, chunk.vector)))
                .map(chunk -> Integer.toString(chunk.document))
                .distinct()
                .limit(K)
                .toList();
    }

    private static String knn(String field, float[] query, String more) {
        return "{\"roost_knn\":{\"" + field + "\":{\"vector\":" + Arrays.toString(query) + ",\"k\":" + K + more + "}}}";
    }

    private static String in(String path, String query, String more) {
        return "{\"nested\":{\"path\":\"" + path + "\",\"score_mode\":\"max\",\"query\":" + query + more + "}}";
    }

    private Reply search(String query) {
        // Per shard, k documents are found.
        return client.post("/texts/_search", "{\"size\":" + K + ",\"_source\":false,\"query\":" + query + "}");
    }

    private List<String> batch(String query) {
        List<String> ids = new ArrayList<>();
        client.batch("texts", "{\"query\":" + query + "}")
                .path(0)
                .path("hits")
                .forEach(hit -> ids.add(hit.path("_id").asText()));
        return ids;
    }

    private float[] query(int number) {
        return chunks.get(number * 37 % chunks.size()).vector;
    }

    @ParameterizedTest
    @CsvSource({"parts.v", "parts.b", "parts.q", "chapters.parts.v"})
    void aSearchFindsAsManyDocumentsAsAskedHoweverManyChunksOfOneAreNear(String field) {
        String path = field.substring(0, field.lastIndexOf('.'));
        for (int number = 0; number < 10; number++) {
            float[] vector = query(number);
            List<String> expected = nearest(vector, chunk -> true);
            // An effort below k: wider searches follow by themselves.
            String knn = knn(field, vector, ",\"effort\":10");
            assertThat(search(in(path, knn, "")).ids()).hasSize(K).startsWith(expected.getFirst());
            String exact = knn(field, vector, ",\"effort\":5000");
            assertThat(search(in(path, exact, "")).ids()).isEqualTo(expected);
            assertThat(search(exact).ids()).as("without a nested query").isEqualTo(expected);
            assertThat(batch(exact)).isEqualTo(expected);
            assertThat(search(exact).scores())
                    .isEqualTo(search(in(path, exact, "")).scores());
        }
    }

    private static Stream<Filter> filters() {
        Filter red = new Filter(
                "{\"term\":{\"color\":\"red\"}}", chunk -> chunk.color().equals("red"));
        Filter german = new Filter(
                "{\"term\":{\"parts.lang\":\"de\"}}", chunk -> chunk.language().equals("de"));
        Filter titled = new Filter("{\"exists\":{\"field\":\"title\"}}", Chunk::hasTitle);
        return Stream.of(
                red,
                german,
                titled,
                new Filter("{\"match_all\":{}}", chunk -> true),
                new Filter("{\"bool\":{\"must\":[" + red + "," + german + "]}}", red.admits.and(german.admits)),
                new Filter(
                        "{\"bool\":{\"filter\":[" + red + "],\"must_not\":[" + german + "]}}",
                        red.admits.and(german.admits.negate())),
                new Filter("{\"bool\":{\"must_not\":[" + red + "]}}", red.admits.negate()),
                new Filter(
                        "{\"bool\":{\"should\":[" + red + "," + german + "," + titled
                                + "],\"minimum_should_match\":2}}",
                        chunk -> Stream.of(red, german, titled)
                                        .filter(one -> one.admits.test(chunk))
                                        .count()
                                >= 2),
                new Filter("{\"constant_score\":{\"filter\":" + red + ",\"boost\":3}}", red.admits),
                new Filter("{\"dis_max\":{\"queries\":[" + red + "," + german + "]}}", red.admits.or(german.admits)),
                new Filter(
                        "{\"ids\":{\"values\":[\"3\",\"30\"]}}", chunk -> chunk.document == 3 || chunk.document == 30),
                new Filter(in("tags", "{\"term\":{\"tags.name\":\"fifth\"}}", ""), chunk -> chunk.document % 5 == 0),
                new Filter(in("parts", german.json, ""), chunk -> true),
                new Filter("{\"term\":{\"color\":\"mauve\"}}", chunk -> false));
    }

    @ParameterizedTest
    @MethodSource("filters")
    void aFilterMayHaveConditionsOnChunksAndOnDocuments(Filter filter) {
        for (int number = 0; number < 5; number++) {
            float[] vector = query(number);
            List<String> expected = nearest(vector, filter.admits);
            String knn = knn("parts.v", vector, ",\"effort\":5000,\"filter\":" + filter.json);
            assertThat(search(in("parts", knn, "")).ids()).isEqualTo(expected);
            assertThat(search(knn).ids()).isEqualTo(expected);
            assertThat(batch(knn)).isEqualTo(expected);
            String several =
                    "{\"query\":" + knn.replace("\"vector\":", "\"vectors\":[").replace(",\"k\"", "],\"k\"") + "}";
            assertThat(client.batch("texts", several).path(0).path("hits")).hasSize(expected.size());
        }
    }

    /** The documents whose nearest admitted chunk is at most this far away, with their scores. */
    private Map<String, Double> within(double distance, List<float[]> queries, Predicate<Chunk> admitted) {
        Map<String, Double> within = new HashMap<>();
        for (float[] query : queries) {
            for (Chunk chunk : chunks) {
                double its = Corpus.squaredDistance(query, chunk.vector);
                if (its <= distance && admitted.test(chunk)) {
                    within.merge(Integer.toString(chunk.document), 1 / (1 + its), Math::max);
                }
            }
        }
        return within;
    }

    private Map<String, Double> all(String query) {
        Reply found = client.post("/texts/_search", "{\"size\":1000,\"_source\":false,\"query\":" + query + "}");
        assertThat(found.ids()).doesNotHaveDuplicates();
        Map<String, Double> all = new HashMap<>();
        for (int i = 0; i < found.ids().size(); i++) {
            all.put(found.ids().get(i), found.scores().get(i));
        }
        return all;
    }

    private static void assertSame(Map<String, Double> found, Map<String, Double> expected) {
        assertThat(found.keySet()).isEqualTo(expected.keySet());
        found.forEach((id, score) -> assertThat(score).isCloseTo(expected.get(id), offset(1e-6)));
    }

    /** Half a unit beyond a whole number: all distances are whole. */
    @ParameterizedTest
    @ValueSource(doubles = {.5, 40.5, 8_000.5, 12_000.5, 1e6})
    void aDocumentIsNearEnoughIfItsNearestChunkIs(double distance) {
        List<Filter> filters = filters().toList();
        for (Filter filter : List.of(filters.get(3), filters.get(1), filters.get(4), filters.getLast())) {
            String options = "\"max_distance\":" + distance + ",\"filter\":" + filter;
            Map<String, Double> one = within(distance, List.of(query(0)), filter.admits);
            Map<String, Double> two = within(distance, List.of(query(0), query(8)), filter.admits);
            for (String how : List.of(",\"effort\":5000", ",\"exact\":true")) {
                for (String field : List.of("parts.v", "parts.b")) {
                    String near = near(field, "\"vector\":" + Arrays.toString(query(0)), options + how);
                    assertSame(all(near), one);
                    assertSame(all(nested(near)), one);
                    String nearBoth = near(
                            field,
                            "\"vectors\":[" + Arrays.toString(query(0)) + "," + Arrays.toString(query(8)) + "]",
                            options + how);
                    assertSame(all(nearBoth), two);
                    assertSame(all(nested(nearBoth)), two);
                }
            }
        }
    }

    private static String near(String field, String vectors, String options) {
        return "{\"roost_knn\":{\"" + field + "\":{" + vectors + "," + options + "}}}";
    }

    /** The sum of the scores of the hits within a document. */
    private static String nested(String query) {
        return "{\"nested\":{\"path\":\"parts\",\"score_mode\":\"sum\",\"query\":" + query + "}}";
    }

    @Test
    void anExactSearchFindsTheDocumentsWithTheNearestChunks() {
        for (String field : List.of("parts.v", "parts.b", "chapters.parts.v")) {
            float[] vector = query(11);
            String exact = knn(field, vector, ",\"exact\":true");
            List<String> expected = nearest(vector, chunk -> true);
            assertThat(search(exact).ids()).isEqualTo(expected);
            assertThat(search(in(field.substring(0, field.lastIndexOf('.')), exact, ""))
                            .ids())
                    .isEqualTo(expected);
            assertThat(batch(exact)).isEqualTo(expected);
        }
    }

    @Test
    void aFilterMayHaveAsManyConditionsAsAnyOther() {
        float[] vector = query(6);
        String many = IntStream.range(0, 1_000)
                .mapToObj(i -> "{\"term\":{\"color\":\"" + (i == 7 ? "red" : i) + "\"}}")
                .toList()
                .toString();
        String filter = ",\"effort\":5000,\"filter\":{\"bool\":{\"should\":" + many + "}}";
        List<String> expected = nearest(vector, chunk -> chunk.color().equals("red"));
        assertThat(batch(knn("chapters.parts.v", vector, filter))).isEqualTo(expected);
        assertThat(search(in("chapters.parts", knn("chapters.parts.v", vector, filter), ""))
                        .ids())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"parts.v", "parts.b", "parts.q", "whole"})
    void aFilterThatAdmitsNothingLeavesNoHits(String field) {
        String knn = knn(field, query(1), ",\"filter\":{\"term\":{\"color\":\"mauve\"}}");
        assertThat(search(knn).ids()).isEmpty();
        assertThat(batch(knn)).isEmpty();
    }

    @Test
    void aSegmentWithoutVectorsHasNoHits() {
        client.put("/sparse", """
                {"settings":{"index.roost.enabled":true,"number_of_shards":1,"number_of_replicas":0},
                 "mappings":{"properties":{"parts":{"type":"nested","properties":{
                  "v":{"type":"roost_vector","dimension":8,"similarity":"euclidean"}}}}}}""").ok();
        float[] vector = query(0);
        client.put("/sparse/_doc/1?refresh=true", "{\"parts\":[{\"v\":" + Arrays.toString(vector) + "}]}")
                .ok();
        client.put("/sparse/_doc/2?refresh=true", "{}").ok();
        for (String options : List.of("", ",\"exact\":true")) {
            String knn = knn("parts.v", vector, options);
            assertThat(client.post("/sparse/_search", "{\"query\":" + knn + "}").ids())
                    .containsExactly("1");
            assertThat(client.post("/sparse/_search", "{\"query\":" + in("parts", knn, "") + "}")
                            .ids())
                    .containsExactly("1");
        }
        client.delete("/sparse").ok();
    }

    @Test
    void aHighlighterMayReadTheDocumentsThatAreFound() {
        Reply found = client.post(
                "/texts/_search",
                "{\"size\":10,\"query\":" + in("parts", knn("parts.v", query(2), ""), "")
                        + ",\"highlight\":{\"type\":\"plain\",\"fields\":{\"title\":{},\"color\":{}}}}");
        assertThat(found.ids()).hasSize(K);
    }

    /** The vectors are two levels deep; the conditions are on each level. */
    @Test
    void aFilterMayHaveConditionsOnTheNestedObjectsAround() {
        float[] vector = query(3);
        String filter = "{\"bool\":{\"must\":[{\"term\":{\"chapters.lang\":\"en\"}},{\"term\":{\"color\":\"blue\"}}]}}";
        String knn = knn("chapters.parts.v", vector, ",\"effort\":5000,\"filter\":" + filter);
        List<String> expected = nearest(
                vector, chunk -> chunk.language().equals("en") && chunk.color().equals("blue"));
        assertThat(search(in("chapters.parts", knn, "")).ids()).isEqualTo(expected);
        assertThat(search(in("chapters", in("chapters.parts", knn, ""), "")).ids())
                .isEqualTo(expected);
        assertThat(batch(knn)).isEqualTo(expected);
    }

    @Test
    void theInnerHitOfADocumentIsItsNearestChunk() {
        float[] vector = query(4);
        JsonNode hits = search(in("parts", knn("parts.v", vector, ",\"effort\":5000"), ",\"inner_hits\":{}"))
                .ok()
                .at("/hits/hits");
        assertThat(hits).hasSize(K);
        for (JsonNode hit : hits) {
            int document = hit.path("_id").asInt();
            int nearest = IntStream.range(0, CHUNKS)
                    .boxed()
                    .min(Comparator.comparingDouble(
                            number -> Corpus.squaredDistance(vector, chunks.get(document * CHUNKS + number).vector)))
                    .orElseThrow();
            assertThat(hit.at("/inner_hits/parts/hits/hits")).hasSize(1);
            int found = hit.at("/inner_hits/parts/hits/hits/0/_nested/offset").asInt();
            assertThat(Corpus.squaredDistance(vector, chunks.get(document * CHUNKS + found).vector))
                    .isEqualTo(Corpus.squaredDistance(vector, chunks.get(document * CHUNKS + nearest).vector));
        }
    }

    @Test
    void aFieldOfTheWholeDocumentIsSearchedBesideNestedOnes() {
        float[] vector = query(5);
        List<String> expected = nearest(vector, chunk -> chunk.number == 0);
        String knn = knn("whole", vector, ",\"effort\":5000");
        assertThat(search(knn).ids()).isEqualTo(expected);
        assertThat(batch(knn)).isEqualTo(expected);
        String german = ",\"effort\":5000,\"filter\":"
                + in("parts", "{\"bool\":{\"must\":[{\"term\":{\"parts.lang\":\"de\"}}]}}", "");
        assertThat(search(knn("whole", vector, german)).ids()).isEqualTo(expected);
    }

    @Test
    void aQueryInTheWrongPlaceIsRefusedWithItsReason() {
        float[] vector = query(0);
        assertRefused(
                in("parts", knn("whole", vector, ""), ""),
                "field [whole] is in no nested object, but the query is in a nested query of path [parts]");
        assertRefused(
                in("tags", knn("parts.v", vector, ""), ""),
                "field [parts.v] is in nested object [parts], but the query is in a nested query of path [tags]");
        assertRefused(
                in("chapters", knn("chapters.parts.v", vector, ""), ""),
                "field [chapters.parts.v] is in nested object [chapters.parts], but the query is in a nested query of path [chapters]");
        assertRefused(
                knn(
                        "parts.v",
                        vector,
                        ",\"filter\":{\"function_score\":{\"query\":{\"term\":{\"color\":\"red\"}},\"weight\":2}}"),
                "must have conditions without scores");
        assertRefused(
                knn("included.v", vector, ""),
                "nested object [included] of field [included.v] must not be included in its parent or root");
    }

    private void assertRefused(String query, String reason) {
        Reply refused = search(query);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString()).contains(reason);
    }
}
