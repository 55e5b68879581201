package io.github.roost.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.testkit.opensearch.LocalCluster;
import io.github.roost.testkit.opensearch.LocalNode;
import io.github.roost.testkit.opensearch.SearchClient;
import io.github.roost.testkit.opensearch.SearchClient.Reply;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One real node, the Java agent on. What restarts it comes last. */
@Tag("program")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OneNodeTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();
    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final int DIMENSION = 16;
    private static final int DELETED_EVERY = 7;
    private static final String ROOST =
            "\"settings\":{\"index.roost.enabled\":true,\"number_of_shards\":1,\"number_of_replicas\":0";
    private static final String FIELDS = "\"mappings\":{\"properties\":{"
            + "\"v\":{\"type\":\"roost_vector\",\"dimension\":16,\"similarity\":\"euclidean\"},"
            + "\"b\":{\"type\":\"roost_vector\",\"dimension\":16,\"similarity\":\"euclidean\",\"element_type\":\"byte\"},"
            + "\"l\":{\"type\":\"roost_vector\",\"dimension\":16,\"similarity\":\"euclidean\",\"format\":\"lucene_hnsw\"},"
            + "\"c\":{\"type\":\"roost_vector\",\"dimension\":16},"
            + "\"q\":{\"type\":\"roost_vector\",\"dimension\":16,\"format\":\"lucene_int8\"},"
            + "\"word\":{\"type\":\"text\"},\"number\":{\"type\":\"integer\"}}}";

    private static final String NEAREST_GOODS =
            "{\"size\":101,\"query\":{\"roost_knn\":{\"v\":{\"vector\":%s,\"k\":101}}}}";
    private static final String ALL_GOODS = "{\"size\":101,\"query\":{\"match_all\":{}}}";

    private static final String EVERYTHING = "{\"size\":10000,\"_source\":false,\"query\":{\"match_all\":{}}}";

    private final Corpus corpus = new Corpus(3_000, DIMENSION, 11);
    private LocalCluster cluster;
    private SearchClient client;

    @BeforeAll
    void startANodeAndFillAnIndex() throws IOException {
        cluster = LocalCluster.start(
                CHECKOUT,
                1,
                "512m",
                0,
                Map.of("search.concurrent_segment_search.mode", "all", "search.concurrent.max_slice_count", "4"));
        client = cluster.client();
        client.put("/birds", "{" + ROOST + ",\"refresh_interval\":-1}," + FIELDS + "}")
                .ok();
        for (int from = 0; from < corpus.size(); from += 500) {
            assertThat(client.post("/birds/_bulk?refresh=true", corpus.bulk(from, from + 500))
                            .ok()
                            .path("errors")
                            .asBoolean())
                    .isFalse();
        }
    }

    @AfterAll
    void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private Reply search(String field, float[] vector, int k, String more) {
        return client.post("/birds/_search", """
                {"size":%d,"_source":false,"query":{"roost_knn":{"%s":{"vector":%s,"k":%d%s}}}}""".formatted(k, field, Arrays.toString(vector), k, more));
    }

    @ParameterizedTest
    @CsvSource({"v", "b", "l"})
    @Order(1)
    void aSearchAsWideAsTheIndexFindsTheNearestInTheirOrder(String field) {
        for (int query = 0; query < 5; query++) {
            float[] vector = corpus.vector(query * 100);
            Reply found = search(field, vector, 10, ",\"effort\":5000");
            assertThat(found.ids()).isEqualTo(corpus.nearest(vector, 10, id -> true));
            for (int i = 0; i < 10; i++) {
                double distance = Corpus.squaredDistance(
                        vector, corpus.vector(Integer.parseInt(found.ids().get(i))));
                assertThat(found.scores().get(i)).isCloseTo(1 / (1 + distance), within(1e-6));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"v", "b", "l"})
    @Order(1)
    void aSearchOfTheGraphFindsNearlyAll(String field) {
        int found = 0;
        for (int query = 0; query < 50; query++) {
            Set<String> truth = new HashSet<>(corpus.nearest(corpus.vector(query), 10, id -> true));
            truth.retainAll(
                    search(field, corpus.vector(query), 10, ",\"effort\":100").ids());
            found += truth.size();
        }
        assertThat(found).isGreaterThan(475);
    }

    @Test
    @Order(1)
    void aFilterLeavesItsOwnNearest() {
        float[] vector = corpus.vector(17);
        assertThat(search("v", vector, 10, ",\"effort\":5000,\"filter\":{\"match\":{\"word\":\"wren\"}}")
                        .ids())
                .isEqualTo(corpus.nearest(vector, 10, id -> Corpus.word(id).equals("wren")));
        assertThat(search("v", vector, 10, ",\"filter\":{\"range\":{\"number\":{\"lt\":4}}}")
                        .ids())
                .isEqualTo(corpus.nearest(vector, 4, id -> id < 4));
        assertThat(search("v", vector, 10, ",\"filter\":{\"match\":{\"word\":\"dodo\"}}")
                        .ids())
                .isEmpty();
    }

    @Test
    @Order(1)
    void theExampleOfAClientFindsWhatItExpects() throws IOException, InterruptedException {
        Process example = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        CHECKOUT.resolve("examples/opensearch-client/src/main/java/example/OpenSearchClient.java")
                                .toString(),
                        client.base())
                .redirectErrorStream(true)
                .start();
        String output = new String(example.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(example.waitFor()).as("%s", output).isZero();
        assertThat(output).contains("finds [2, 1]", "finds [1, 3]");
    }

    @Test
    @Order(1)
    void aLeastScoreEndsTheHits() {
        float[] vector = corpus.vector(5);
        Reply all = search("v", vector, 10, ",\"effort\":5000");
        double third = all.scores().get(2);
        assertThat(search("v", vector, 10, ",\"effort\":5000,\"min_score\":" + third)
                        .ids())
                .isEqualTo(all.ids().subList(0, 3));
    }

    @Test
    @Order(1)
    void wordsAndMeaningAddUpInOneSearch() {
        float[] vector = corpus.vector(3);
        String words = "{\"match\":{\"word\":\"heron\"}}";
        String meaning = "{\"roost_knn\":{\"v\":{\"vector\":" + Arrays.toString(vector)
                + ",\"k\":20,\"effort\":5000,\"boost\":100}}}";
        String query = "{\"size\":30,\"_source\":false,\"query\":%s}";
        Map<String, Double> byWords =
                scores(client.post("/birds/_search", query.replace("30", "3000").formatted(words)));
        Map<String, Double> byMeaning = scores(client.post("/birds/_search", query.formatted(meaning)));
        Map<String, Double> both = scores(client.post(
                "/birds/_search",
                query.replace("30", "3000").formatted("{\"bool\":{\"should\":[" + words + "," + meaning + "]}}")));
        Set<String> either = new HashSet<>(byWords.keySet());
        either.addAll(byMeaning.keySet());
        assertThat(both.keySet()).isEqualTo(either);
        both.forEach((id, score) -> assertThat(score)
                .isCloseTo(byWords.getOrDefault(id, 0.) + byMeaning.getOrDefault(id, 0.), within(1e-4)));
    }

    private static Map<String, Double> scores(Reply found) {
        List<String> ids = found.ids();
        Map<String, Double> scores = new HashMap<>();
        for (int i = 0; i < ids.size(); i++) {
            scores.put(ids.get(i), found.scores().get(i));
        }
        return scores;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'type':'roost_vector'}|needs a dimension between 1 and 4096",
                "{'type':'roost_vector','dimension':0}|dimension must be a whole number between 1 and 4096, got 0",
                "{'type':'roost_vector','dimension':5000}|dimension must be a whole number between 1 and 4096, got 5000",
                "{'type':'roost_vector','dimension':2.5}|dimension must be a whole number between 1 and 4096, got 2.5",
                "{'type':'roost_vector','dimension':2000,'format':'lucene_hnsw'}|must be between 1 and 1024 with format lucene_hnsw, got 2000",
                "{'type':'roost_vector','dimension':4,'element_type':'half'}|element_type must be one of float, byte, got half",
                "{'type':'roost_vector','dimension':4,'similarity':'far'}|similarity must be one of euclidean, dot_product, cosine, maximum_inner_product, got far",
                "{'type':'roost_vector','dimension':4,'format':'faiss'}|format must be one of roost, lucene_hnsw, lucene_int8, lucene_binary, got faiss",
                "{'type':'roost_vector','dimension':4,'element_type':'byte','format':'lucene_int8'}|must be float with format lucene_int8, got byte",
                "{'type':'roost_vector','dimension':4,'m':500}|m must be a whole number between 1 and 256, got 500",
                "{'type':'roost_vector','dimension':4,'nprobe':3}|unknown parameter [nprobe]",
                "{'type':'roost_vector','dimension':4,'attributes':'items'}|attributes must be an object of table, key and columns, got items",
                "{'type':'roost_vector','dimension':4,'attributes':{'table':'items'}}|attributes must have a text as key, got null",
                "{'type':'roost_vector','dimension':4,'attributes':{'table':'../a','key':'n'}}|characters a-z, 0-9, - and _, got ../a",
                "{'type':'roost_vector','dimension':4,'attributes':{'table':'a','key':'n','columns':'b'}}|columns of attributes must be an array of different names, got b",
                "{'type':'roost_vector','dimension':4,'attributes':{'table':'a','key':'n','rows':3}}|attributes must have table, key and columns, got rows",
            })
    @Order(1)
    void aMappingThatCannotBeIsRefusedWithItsReason(String field, String reason) {
        Reply refused = client.put(
                "/never", "{" + ROOST + "},\"mappings\":{\"properties\":{\"v\":" + field.replace('\'', '"') + "}}}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString()).contains(reason);
        assertThat(client.get("/never").status()).isEqualTo(404);
    }

    @Test
    @Order(1)
    void anIndexThatWasNotCreatedForVectorsTakesNoneAndCannotBeMadeTo() {
        client.put("/plain", "{}").ok();
        Reply refused =
                client.put("/plain/_mapping", "{\"properties\":{\"v\":{\"type\":\"roost_vector\",\"dimension\":4}}}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString())
                .contains("needs an index that was created with index.roost.enabled: true");
        Reply late = client.put("/plain/_settings", "{\"index.roost.enabled\":true}");
        assertThat(late.status()).isEqualTo(400);
        assertThat(late.body().toString()).contains("index.roost.enabled");
        client.delete("/plain").ok();
    }

    @ParameterizedTest
    @CsvSource({
        "dimension,8,16",
        "element_type,byte,float",
        "similarity,cosine,euclidean",
        "format,lucene_hnsw,roost",
        "m,32,16",
        "ef_construction,50,100"
    })
    @Order(1)
    void whatSegmentsDependOnCannotBeChangedInALiveIndex(String parameter, String changed, String kept) {
        Map<String, String> parameters = new LinkedHashMap<>(Map.of("dimension", "16", "similarity", "euclidean"));
        parameters.put(parameter, changed);
        String field = parameters.entrySet().stream()
                .map(entry -> ",\"" + entry.getKey() + "\":\"" + entry.getValue() + "\"")
                .collect(Collectors.joining())
                .replaceAll("\"([0-9]+)\"", "$1");
        Reply refused =
                client.put("/birds/_mapping", "{\"properties\":{\"v\":{\"type\":\"roost_vector\"" + field + "}}}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString())
                .contains("Cannot update parameter [" + parameter + "] from [" + kept + "] to [" + changed + "]");
        assertThat(nearestThree()).isEqualTo(corpus.nearest(corpus.vector(5), 3, id -> true));
    }

    private List<String> nearestThree() {
        return search("v", corpus.vector(5), 3, ",\"effort\":5000").ids();
    }

    /** Not even while it is closed, except for what only segments yet to be written depend on. */
    @Test
    @Order(1)
    void theCodecOfALiveIndexCannotBeChanged() {
        client.put("/codec", "{" + ROOST + "}," + FIELDS + "}").ok();
        client.post("/codec/_bulk?refresh=true", corpus.bulk(0, 100)).ok();
        assertRefusesSetting("\"index.roost.enabled\":false", "Can't update non dynamic settings");
        assertRefusesSetting("\"index.codec\":\"best_compression\"", "Can't update non dynamic settings");
        client.post("/codec/_close", "").ok();
        assertRefusesSetting("\"index.roost.enabled\":false", "final codec setting [index.roost.enabled]");
        client.put("/codec/_settings", "{\"index.codec\":\"best_compression\"}").ok();
        client.post("/codec/_open", "").ok();
        client.post("/codec/_bulk?refresh=true", corpus.bulk(100, 200)).ok();
        Reply found = client.post("/codec/_search", """
                {"size":200,"query":{"roost_knn":{"v":{"vector":%s,"k":200}}}}""".formatted(Arrays.toString(corpus.vector(5))));
        assertThat(found.ids()).isEqualTo(corpus.nearest(corpus.vector(5), 200, id -> id < 200));
        client.delete("/codec").ok();
    }

    private void assertRefusesSetting(String setting, String reason) {
        Reply refused = client.put("/codec/_settings", "{" + setting + "}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString()).contains(reason);
    }

    @Test
    @Order(1)
    void aDocumentThatCannotBeIsRefusedAloneAndTheRestIsKept() {
        client.put(
                        "/mixed",
                        "{" + ROOST + "},\"mappings\":{\"properties\":{"
                                + "\"c\":{\"type\":\"roost_vector\",\"dimension\":2},"
                                + "\"b\":{\"type\":\"roost_vector\",\"dimension\":2,\"element_type\":\"byte\"},"
                                + "\"d\":{\"type\":\"roost_vector\",\"dimension\":2,\"similarity\":\"dot_product\"}}}}")
                .ok();
        Map<String, String> refusals = new LinkedHashMap<>();
        refusals.put("{\"c\":[1]}", "must have 2 dimensions, got 1");
        refusals.put("{\"c\":[1,2,3]}", "must have 2 dimensions, got 3");
        refusals.put("{\"c\":[0,0]}", "must not be zero: it has no cosine");
        refusals.put("{\"c\":[1e30,1e30]}", "it has no cosine");
        refusals.put("{\"c\":[1e39,1]}", "must be finite, got Infinity in dimension 0");
        refusals.put("{\"c\":[1,\"NaN\"]}", "must be an array of numbers, got NaN in dimension 1");
        refusals.put("{\"c\":[1,NaN]}", "Non-standard token 'NaN'");
        refusals.put("{\"c\":[1,null]}", "must be an array of numbers, got");
        refusals.put("{\"c\":[[1,2]]}", "must be an array of numbers, got START_ARRAY in dimension 0");
        refusals.put("{\"c\":\"owl\"}", "or the base64 of little-endian floats, got 2 bytes");
        refusals.put("{\"c\":\"o w l\"}", "or the base64 of little-endian floats, got o w l");
        refusals.put("{\"c\":\"AACAPwAAgD8AAIA/\"}", "must have 2 dimensions, got 3");
        refusals.put("{\"c\":\"AADAfwAAgD8=\"}", "must be finite, got NaN in dimension 0");
        refusals.put("{\"b\":[1,128]}", "must have whole numbers between -128 and 127, got 128.0 in dimension 1");
        refusals.put("{\"b\":[0,0]}", "must not be zero: it has no cosine");
        refusals.put("{\"b\":[1.5,1]}", "must have whole numbers between -128 and 127, got 1.5 in dimension 0");
        refusals.put("{\"d\":[1,1]}", "must have a length of 1 for dot_product, got 1.41");
        List<String> reasons = new ArrayList<>(refusals.values());
        StringBuilder bulk = new StringBuilder();
        refusals.keySet()
                .forEach(document ->
                        bulk.append("{\"index\":{}}\n").append(document).append('\n'));
        bulk.append("{\"index\":{}}\n{\"c\":[1,2],\"b\":[-128,127],\"d\":[0.6,0.8]}\n{\"index\":{}}\n{\"c\":null}\n");
        JsonNode items =
                client.post("/mixed/_bulk?refresh=true", bulk.toString()).ok().path("items");
        for (int i = 0; i < reasons.size(); i++) {
            assertThat(items.path(i).path("index").path("status").asInt())
                    .as(items.path(i).toString())
                    .isEqualTo(400);
            assertThat(items.path(i).at("/index/error/reason").asText()).contains(reasons.get(i));
        }
        assertThat(client.get("/mixed/_count").ok().path("count").asInt()).isEqualTo(2);
        assertThat(client.post("/mixed/_count", "{\"query\":{\"exists\":{\"field\":\"c\"}}}")
                        .ok()
                        .path("count")
                        .asInt())
                .isEqualTo(1);
        client.delete("/mixed").ok();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'roost_knn':{'v':{'vector':[1,2],'k':3}}}|must have 16 dimensions, got 2",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':0}}}|k must be between 1 and 10,000, got 0",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':10001}}}|k must be between 1 and 10,000, got 10,001",
                "{'roost_knn':{'v':{'vector':VECTOR,'effort':0}}}|effort must be between 1 and 100,000, got 0",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':3000000000}}}|Numeric value (3000000000) out of range",
                "{'roost_knn':{'v':{'vector':VECTOR,'effort':100001}}}|effort must be between 1 and 100,000, got 100,001",
                "{'roost_knn':{'v':{'vector':VECTOR,'min_score':'NaN'}}}|min_score must be finite, got NaN",
                "{'roost_knn':{'v':{'vector':VECTOR,'min_score':0.1,'max_distance':2}}}|min_score or max_distance must be given, one of the two, got 0.1 and 2.0",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':3,'max_distance':2}}}|max_distance must be given without k, got 2.0 with a k of 3",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':0,'min_score':0.1}}}|k must be between 1 and 10,000, got 0",
                "{'roost_knn':{'v':{'vector':VECTOR,'k':null,'min_score':0.1}}}|k doesn't support values of type: VALUE_NULL",
                "{'roost_knn':{'v':{'vector':VECTOR,'max_distance':'far'}}}|failed to parse field [max_distance]",
                "{'roost_knn':{'v':{'vector':VECTOR,'max_distance':'NaN'}}}|max_distance must be finite, got NaN",
                "{'roost_knn':{'v':{'vector':VECTOR,'max_distance':1e39}}}|max_distance must be finite, got Infinity",
                "{'roost_knn':{'v':{'vector':VECTOR,'max_distance':-1}}}|max_distance must be between 0.0 and 3.4028235E38 for euclidean, got -1.0",
                "{'roost_knn':{'c':{'vector':VECTOR,'max_distance':2.5}}}|max_distance must be between 0.0 and 2.0 for cosine, got 2.5",
                "{'roost_knn':{'v':{'vector':VECTOR,'exact':true,'effort':10}}}|an exact search must be without effort, which is for graphs, got 10",
                "{'roost_knn':{'v':{'vector':[1,2],'max_distance':2}}}|must have 16 dimensions, got 2",
                "{'roost_knn':{'q':{'vector':VECTOR,'min_score':0.5}}}|min_score is not for field [q] of format lucene_int8, got 0.5",
                "{'roost_knn':{'q':{'vector':VECTOR,'k':3,'min_score':0.5}}}|min_score is not for field [q] of format lucene_int8, got 0.5",
                "{'roost_knn':{'q':{'vector':VECTOR,'max_distance':2}}}|max_distance is not for field [q] of format lucene_int8, got 2.0",
                "{'roost_knn':{'q':{'vector':VECTOR,'exact':true}}}|exact is not for field [q] of format lucene_int8, got true",
                "{'roost_knn':{'v':{'k':3}}}|must have a vector for field [v]",
                "{'roost_knn':{'v':{'vector':VECTOR,'vectors':[VECTOR]}}}|must have a vector for field [v], or vectors",
                "{'roost_knn':{'v':{'vectors':[]}}}|vectors must be at least 1, got 0",
                "{'roost_knn':{'v':{'vectors':[VECTOR,[1,2]]}}}|must have 16 dimensions, got 2",
                "{'roost_knn':{'v':{'vector':'AACAPw=='}}}|must have 16 dimensions, got 1",
                "{'roost_knn':{'v':{'vectors':[[1],[1],[1],[1],[1],[1],[1],[1],[1],[1],[1]],'k':10000}}}|vectors times k must be between 1 and 100,000, got 110,000",
                "{'roost_knn':{'v':{'vector':VECTOR,'kk':3}}}|unknown field [kk]",
                "{'roost_knn':{'v':[1,2]}}|must have an object under [v]",
                "{'roost_knn':{}}|must name a field",
                "{'roost_knn':{'w':{'vector':VECTOR}}}|there is no field [w] in index [birds]",
                "{'roost_knn':{'word':{'vector':VECTOR}}}|must be of type roost_vector, and is of type text",
                "{'roost_knn':{'b':{'vector':HALVES}}}|must have whole numbers between -128 and 127, got 0.5",
                "{'roost_knn':{'v':{'vector':HUGE}}}|must be finite, got Infinity in dimension 0",
                "{'roost_knn':{'v':{'vector':NAN}}}|must be finite, got NaN in dimension 3",
                "{'roost_knn':{'v':{'vectors':[VECTOR,NAN]}}}|must be finite, got NaN in dimension 3",
                "{'roost_knn':{'c':{'vector':ZERO}}}|must not be zero: it has no cosine",
                "{'roost_knn':{'v':{'vector':VECTOR},'l':{'vector':VECTOR}}}|doesn't support multiple fields",
                "{'term':{'v':3}}|is searched by roost_knn",
            })
    @Order(1)
    void aSearchThatCannotBeIsRefusedWithItsReason(String query, String reason) {
        float[] halves = new float[DIMENSION];
        Arrays.fill(halves, .5f);
        float[] notANumber = new float[DIMENSION];
        notANumber[3] = Float.NaN;
        String json = query.replace('\'', '"')
                .replace("VECTOR", Arrays.toString(corpus.vector(0)))
                .replace("NAN", Corpus.base64(notANumber))
                .replace("ZERO", Arrays.toString(new float[DIMENSION]))
                .replace("HALVES", Arrays.toString(halves))
                .replace("HUGE", Arrays.toString(halves).replaceFirst("0.5", "1e39"));
        Reply refused = client.post("/birds/_search", "{\"query\":" + json + "}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.body().toString().replace("\\u0027", "'")).contains(reason);
        assertThat(nearestThree()).isEqualTo(corpus.nearest(corpus.vector(5), 3, id -> true));
    }

    @Test
    @Order(1)
    void aVectorMayBeTheBase64OfItsFloatsInDocumentsAndInSearches() {
        client.put("/encoded", "{" + ROOST + "}," + FIELDS + "}").ok();
        float[] vector = corpus.vector(8);
        client.put("/encoded/_doc/8?refresh=true", "{\"v\":" + Corpus.base64(vector) + "}")
                .ok();
        Reply found = client.post(
                "/encoded/_search", "{\"query\":{\"roost_knn\":{\"v\":{\"vector\":" + Corpus.base64(vector) + "}}}}");
        assertThat(found.ids()).containsExactly("8");
        assertThat(found.scores()).containsExactly(1.0);
        client.delete("/encoded").ok();
    }

    private static List<String> ids(JsonNode list) {
        List<String> ids = new ArrayList<>();
        list.path("hits").forEach(hit -> ids.add(hit.path("_id").asText()));
        return ids;
    }

    private String vectors(int count) {
        return IntStream.range(0, count)
                .mapToObj(query -> Arrays.toString(corpus.vector(query * 100)))
                .collect(Collectors.joining(",", "[", "]"));
    }

    @ParameterizedTest
    @CsvSource({"v", "b", "l"})
    @Order(1)
    void aBatchOfSearchesHasTheHitsOfEachSearchAlone(String field) {
        for (String filter : List.of("", ",\"boost\":2,\"filter\":{\"match\":{\"word\":\"wren\"}}")) {
            JsonNode lists = client.batch("birds", """
                    {"query":{"roost_knn":{"%s":{"vectors":%s,"k":10,"effort":5000%s}}},"_source":true}""".formatted(field, vectors(7), filter));
            assertThat(lists).hasSize(7);
            for (int query = 0; query < 7; query++) {
                Reply alone = search(field, corpus.vector(query * 100), 10, ",\"effort\":5000" + filter);
                assertThat(ids(lists.get(query))).isEqualTo(alone.ids());
                for (int i = 0; i < 10; i++) {
                    JsonNode hit = lists.get(query).path("hits").get(i);
                    assertThat(hit.path("_score").asDouble())
                            .isEqualTo(alone.scores().get(i));
                    assertThat(hit.at("/_source/number").asText())
                            .isEqualTo(alone.ids().get(i));
                }
            }
        }
    }

    @Test
    @Order(1)
    void aBatchSeesOfAnIndexWhatItsAliasLets() {
        client.post("/_aliases", """
                {"actions":[{"add":{"index":"birds","alias":"finches","filter":{"match":{"word":"finch"}}}}]}""").ok();
        JsonNode lists = client.batch("finches", """
                {"query":{"roost_knn":{"v":{"vector":%s,"k":5,"effort":5000}}}}""".formatted(Arrays.toString(corpus.vector(0))));
        assertThat(ids(lists.get(0)))
                .isEqualTo(corpus.nearest(
                        corpus.vector(0), 5, id -> Corpus.word(id).equals("finch")));
    }

    @Test
    @Order(1)
    void aBatchOverNoIndexHasAnEmptyListPerVector() {
        JsonNode lists = client.batch("nothing*", """
                {"query":{"roost_knn":{"v":{"vectors":%s}}}}""".formatted(vectors(3)));
        assertThat(lists).hasSize(3).allMatch(list -> list.path("hits").isEmpty());
    }

    /** The index is idle at all times, so OpenSearch refreshes it for searches only. */
    @Test
    @Order(1)
    void aBatchSeesDocumentsThatAreNotRefreshedBecauseTheIndexIsIdle() {
        client.put("/idle", "{" + ROOST + ",\"search.idle.after\":\"0s\"}," + FIELDS + "}")
                .ok();
        String vector = Arrays.toString(corpus.vector(0));
        client.put("/idle/_doc/1", "{\"v\":" + vector + "}").ok();
        await(() -> !ids(client.batch("idle", """
                                {"query":{"roost_knn":{"v":{"vector":%s}}}}""".formatted(vector)).get(0)).isEmpty());
    }

    /** Each search of the filter needs a worker, as each search of the batch does. */
    @Test
    @Order(1)
    void aBatchMayHaveAFilterThatSearchesVectorsAtHomeItself() {
        set("\"roost.homes\":\"always\"");
        JsonNode lists = client.batch("birds", """
                {"query":{"roost_knn":{"v":{"vectors":%s,"k":5,"effort":5000,
                "filter":{"roost_knn":{"b":{"vector":%s,"k":100,"effort":5000}}}}}}}""".formatted(vectors(16), Arrays.toString(corpus.vector(0))));
        List<String> allowed = corpus.nearest(corpus.vector(0), 100, id -> true);
        assertThat(lists).hasSize(16);
        for (int query = 0; query < 16; query++) {
            assertThat(ids(lists.get(query)))
                    .isEqualTo(corpus.nearest(
                            corpus.vector(query * 100), 5, id -> allowed.contains(Integer.toString(id))));
        }
        set("\"roost.homes\":null");
    }

    /** The filter of the query is shared by the shards, and each has the filters of its own index's aliases. */
    @Test
    @Order(1)
    void aBatchThroughAliasesOfSeveralIndexesHasTheFiltersOfEach() {
        for (String word : List.of("crow", "owl")) {
            client.put("/only-" + word, "{" + ROOST + "}," + FIELDS + "}").ok();
            client.bulk("only-" + word, corpus.bulk(0, 300));
            client.post("/only-" + word + "/_refresh", "").ok();
            client.post("/_aliases", """
                    {"actions":[{"add":{"index":"only-%1$s","alias":"%1$ss","filter":{"match":{"word":"%1$s"}}}}]}""".formatted(word)).ok();
        }
        for (String filter : List.of(
                "{\"bool\":{\"should\":[{\"range\":{\"number\":{\"lt\":50}}},{\"range\":{\"number\":{\"gte\":280}}}]}}",
                "{\"bool\":{\"filter\":[{\"range\":{\"number\":{\"lt\":70}}}]}}",
                "{\"constant_score\":{\"filter\":{\"bool\":{\"filter\":[{\"range\":{\"number\":{\"lt\":70}}}]}}}}")) {
            JsonNode hits = client.batch("crows,owls", """
                            {"query":{"roost_knn":{"v":{"vector":%s,"k":100,"filter":%s}}}}""".formatted(Arrays.toString(corpus.vector(0)), filter))
                    .path(0)
                    .path("hits");
            assertThat(hits).hasSize(28);
            for (JsonNode hit : hits) {
                assertThat("only-" + Corpus.word(hit.path("_id").asInt()))
                        .isEqualTo(hit.path("_index").asText());
            }
        }
        client.delete("/only-crow").ok();
        client.delete("/only-owl").ok();
    }

    @Test
    @Order(1)
    void aBatchMayHaveAFilterThatLooksUpAnotherDocument() {
        client.put("/look/_doc/1?refresh=true", "{\"words\":[\"wren\",\"owl\"]}")
                .ok();
        String query = """
                {"query":{"roost_knn":{"v":{"vector":%s,"k":5,"effort":5000,
                "filter":{"terms":{"word":{"index":"look","id":"1","path":"words"}}}}}}}""".formatted(Arrays.toString(corpus.vector(0)));
        List<String> expected =
                corpus.nearest(corpus.vector(0), 5, id -> List.of("wren", "owl").contains(Corpus.word(id)));
        assertThat(ids(client.batch("birds", query).get(0))).isEqualTo(expected);
        assertThat(client.post("/birds/_search", query).ids()).isEqualTo(expected);
        client.delete("/look").ok();
    }

    @Test
    @Order(1)
    void anIndexWithoutTheFieldHasNoHitsIfThatIsToBeIgnored() {
        client.put("/bare/_doc/1?refresh=true", "{\"word\":\"owl\"}").ok();
        String query = "{\"query\":{\"roost_knn\":{\"v\":{\"vector\":" + Arrays.toString(corpus.vector(0))
                + ",\"k\":5,\"effort\":5000%s}}}}";
        List<String> nearest = corpus.nearest(corpus.vector(0), 5, id -> true);
        String ignoring = query.formatted(",\"ignore_unmapped\":true");
        Reply found = client.post("/birds,bare/_search", ignoring);
        assertThat(found.ids()).isEqualTo(nearest);
        assertThat(found.body().at("/_shards/failed").asInt()).isZero();
        assertThat(ids(client.batch("birds,bare", ignoring).get(0))).isEqualTo(nearest);
        assertThat(client.post("/_plugins/_roost/search/birds,bare", query.formatted(""))
                        .body()
                        .toString())
                .contains("there is no field [v] in index [bare]");
        client.delete("/bare").ok();
    }

    /** A batch of these many vectors, which takes long if they are many, with a filter of a hundred. */
    private String slowBatch(int vectors, String more) {
        List<String> all = IntStream.range(0, vectors)
                .mapToObj(query -> Corpus.base64(corpus.vector(query)))
                .toList();
        return "{\"query\":{\"roost_knn\":{\"v\":{\"vectors\":" + all + ",\"k\":97,\"effort\":5000"
                + ",\"filter\":{\"roost_knn\":{\"v\":{\"vectors\":" + all.subList(0, 100)
                + ",\"k\":97,\"effort\":5000}}}}}},\"_source\":true" + more + "}";
    }

    @Test
    @Order(1)
    void aBatchEndsAfterItsTimeoutWithTheHitsSoFar() {
        JsonNode quick = client.post("/_plugins/_roost/search/birds", slowBatch(1_000, ",\"timeout\":\"1ms\""))
                .ok();
        assertThat(quick.path("timed_out").asBoolean()).isTrue();
        assertThat(quick.path("results")).hasSize(1_000);
        JsonNode whole =
                client.post("/_plugins/_roost/search/birds", slowBatch(100, "")).ok();
        assertThat(whole.path("timed_out").asBoolean(true)).isFalse();
        assertThat(whole.path("results")).allMatch(list -> list.path("hits").size() == 97);
    }

    @Test
    @Order(1)
    void aBatchIsATaskThatCanBeCancelledAndEndsWhenItsClientGoes() throws Exception {
        try (ExecutorService clients = Executors.newSingleThreadExecutor()) {
            Future<Reply> batch =
                    clients.submit(() -> client.post("/_plugins/_roost/search/birds", slowBatch(1_000, "")));
            await(() -> tasks().findAny().isPresent());
            assertThat(tasks())
                    .allMatch(task -> task.path("cancellable").asBoolean()
                            && task.path("description").asText().contains("vectors[1000], k[97]"));
            // Each search on a worker counts, not only what the thread of the request does.
            await(() -> tasks().anyMatch(task ->
                    task.at("/resource_stats/thread_info/thread_executions").asInt() > 2));
            client.post("/_tasks/_cancel?actions=*roost*", "").ok();
            assertThat(batch.get().status()).isGreaterThanOrEqualTo(400);
            assertThat(batch.get().body().toString()).contains("cancelled");
        }
        await(() -> tasks().findAny().isEmpty());
        try (Socket leaving = new Socket(
                InetAddress.getLoopbackAddress(), URI.create(client.base()).getPort())) {
            byte[] body = slowBatch(1_000, "").getBytes(StandardCharsets.UTF_8);
            OutputStream out = leaving.getOutputStream();
            out.write(
                    ("POST /_plugins/_roost/search/birds HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                                    + "content-length: " + body.length + "\r\n\r\n")
                            .getBytes(StandardCharsets.UTF_8));
            out.write(body);
            out.flush();
            await(() -> tasks().findAny().isPresent());
        }
        long before = queries();
        await(() -> tasks().findAny().isEmpty());
        assertThat(queries()).as("the batch was ended before it was complete").isEqualTo(before);
    }

    private Stream<JsonNode> tasks() {
        return client.get("/_tasks?detailed&actions=*roost/search*")
                .ok()
                .path("nodes")
                .valueStream()
                .flatMap(node -> node.path("tasks").valueStream());
    }

    private long queries() {
        return client.get("/birds/_stats/search")
                .ok()
                .at("/indices/birds/primaries/search/query_total")
                .asLong();
    }

    @Test
    @Order(1)
    void aBatchCountsAsAQueryOfEachShardAndStandsInTheSlowLog() {
        client.put("/birds/_settings", "{\"index.search.slowlog.threshold.query.warn\":\"0ms\"}")
                .ok();
        long before = queries();
        client.batch("birds", """
                {"query":{"roost_knn":{"v":{"vectors":%s,"k":3}}}}""".formatted(vectors(3)));
        assertThat(queries()).isEqualTo(before + 1);
        client.put("/birds/_settings", "{\"index.search.slowlog.threshold.query.warn\":null}")
                .ok();
    }

    @Test
    @Order(1)
    void anIndexMayHaveAnEffortOfItsOwn() {
        client.put("/narrow", "{" + ROOST + ",\"index.roost.effort\":1}," + FIELDS + "}")
                .ok();
        // Fewer documents have no graph, and a segment that was not merged has none either.
        client.bulk("narrow", corpus.bulk(0, 1_200));
        client.post("/narrow/_refresh", "").ok();
        client.bulk("narrow", corpus.bulk(1_200, 2_400));
        client.mergeToOne("narrow");
        assertThat(exactHits("narrow")).isLessThan(500);
        client.put("/narrow/_settings", "{\"index.roost.effort\":5000}").ok();
        assertThat(exactHits("narrow")).isEqualTo(500);
        client.delete("/narrow").ok();
    }

    /** The number of hits among the ten nearest of fifty searches with the default effort. */
    private int exactHits(String index) {
        int exact = 0;
        for (int query = 0; query < 50; query++) {
            float[] vector = corpus.vector(2_900 + query);
            Set<String> found =
                    new HashSet<>(client.post("/" + index + "/_search", """
                    {"_source":false,"query":{"roost_knn":{"v":{"vector":%s}}}}""".formatted(Arrays.toString(vector)))
                            .ids());
            found.retainAll(corpus.nearest(vector, 10, id -> id < 2_400));
            exact += found.size();
        }
        return exact;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}}}|400|must have 16 dimensions, got 2",
                "birds|{'query':{'match_all':{}}}|400|every query of a batch must be a roost_knn",
                "birds|{'_source':true}|400|a batch must have a query, got none",
                "birds|[3]|400|a batch must be an object with a query",
                "birds|{'size':3}|400|a batch must have query, _source and timeout, got [size]",
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}},'timeout':'soon'}|400|failed to parse setting [timeout]",
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}},'timeout':null}|400|timeout must be a time such as 500ms, got VALUE_NULL",
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}}}{}|400|a batch must end after its object",
                "birds|{'query':{'roost_knn':{'v':{'vector':[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],'filter':{'nested':{'path':'zz','query':{'match_all':{}}}}}}}}|400|failed to find nested object under path [zz]",
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]],'max_distance':3}}}}|400|a batch must have k: it cannot return all documents near enough",
                "birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]],'min_score':0.5}}}}|400|a batch must have k",
                "other:birds|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}}}|400|must name indexes of its own cluster, got [other:birds]",
                "nowhere|{'query':{'roost_knn':{'v':{'vectors':[[1,2]]}}}}|404|no such index [nowhere]",
            })
    @Order(1)
    void aBatchThatCannotBeIsRefusedWithItsReason(String index, String body, int status, String reason) {
        Reply refused = client.post("/_plugins/_roost/search/" + index, body.replace('\'', '"'));
        assertThat(refused.status()).isEqualTo(status);
        assertThat(refused.body().toString()).contains(reason);
    }

    @Test
    @Order(1)
    void aDocumentNearToSeveralVectorsHasTheBestOfTheirScores() {
        Map<String, Double> best = new HashMap<>();
        for (int query = 0; query < 3; query++) {
            scores(search("v", corpus.vector(query * 100), 10, ",\"effort\":5000"))
                    .forEach((id, score) -> best.merge(id, score, Math::max));
        }
        Reply found = client.post("/birds/_search", """
                {"size":100,"_source":false,"query":{"roost_knn":{"v":{"vectors":%s,"k":10,"effort":5000}}}}""".formatted(vectors(3)));
        assertThat(scores(found)).isEqualTo(best);
    }

    /** Writes a version of a table whose rows are those of even keys, as whoever makes tables does, and ends the table. */
    private static void seal(Path folder, long version, int rows) throws IOException {
        Schema schema = Schema.of(Column.ofText("name"), Column.ofInt("stock"), Column.ofDouble("price"));
        try (VersionedRows table = VersionedRows.open(folder);
                VersionBuilder building = table.begin(version, schema)) {
            RowWriter row = building.writer();
            for (int key = 0; key < rows; key += 2) {
                building.put(
                        key,
                        row.clear().setText(0, "bird " + key).setInt(1, key).setDouble(2, (double) (version + key)));
            }
            building.seal();
        }
    }

    private static String withAttributes(String attributes) {
        return "{" + ROOST + "},\"mappings\":{\"properties\":{\"v\":{\"type\":\"roost_vector\",\"dimension\":16,"
                + "\"similarity\":\"euclidean\",\"attributes\":" + attributes + "},"
                + "\"word\":{\"type\":\"text\"},\"number\":{\"type\":\"long\"}}}}";
    }

    @Test
    @Order(1)
    void hitsHaveTheColumnsOfTheirRowsInTheNewestVersionOfATable() throws IOException {
        client.put(
                        "/goods",
                        withAttributes("{\"table\":\"items\",\"key\":\"number\",\"columns\":[\"price\",\"name\"]}"))
                .ok();
        client.bulk("goods", corpus.bulk(0, 100));
        client.put("/goods/_doc/none?refresh=true", "{\"v\":" + Arrays.toString(corpus.vector(100)) + "}")
                .ok();
        assertGoodsHaveNoColumns("may be read by indexes [], which roost.tables.items.indexes names");
        set("\"roost.tables.items.indexes\":[\"shops\",\"good*\"]");
        assertGoodsHaveNoColumns("there is no table [items] on this node");
        Path draft = cluster.folder().resolve("items");
        seal(draft, 1, 100);
        cluster.node(0).put(draft, "roost-tables/items");
        awaitVersion("items", 1);
        assertHitsHaveTheirRows(1);

        seal(draft, 2, 100);
        cluster.node(0).put(draft.resolve("version-2.roost"), "roost-tables/items/version-2.roost");
        awaitVersion("items", 2);
        assertHitsHaveTheirRows(2);

        client.put("/goods/_mapping", """
                {"properties":{"v":{"type":"roost_vector","dimension":16,"similarity":"euclidean",
                               "attributes":{"table":"items","key":"number","columns":["color"]}}}}""").ok();
        assertGoodsHaveNoColumns("color");
        client.put("/goods/_mapping", """
                {"properties":{"v":{"type":"roost_vector","dimension":16,"similarity":"euclidean",
                               "attributes":{"table":"items","key":"word"}}}}""").ok();
        assertGoodsHaveNoColumns(
                "must be a field of type long, integer, short or byte with doc values, and [word] is of type text");
        client.delete("/goods").ok();
    }

    private void awaitVersion(String table, int version) {
        await(() -> stats().at("/attribute_tables/" + table + "/version").asInt() == version);
    }

    private void assertHitsHaveTheirRows(int version) {
        for (String query : List.of(NEAREST_GOODS.formatted(Arrays.toString(corpus.vector(5))), ALL_GOODS)) {
            JsonNode hits = client.post("/goods/_search", query).ok().at("/hits/hits");
            assertThat(hits).hasSize(101);
            for (JsonNode hit : hits) {
                String id = hit.path("_id").asText();
                boolean hasRow = !id.equals("none") && Integer.parseInt(id) % 2 == 0;
                assertThat(hit.path("fields")).hasSize(hasRow ? 2 : 0);
                if (hasRow) {
                    assertThat(hit.at("/fields/items.name/0").asText()).isEqualTo("bird " + id);
                    assertThat(hit.at("/fields/items.price/0").asDouble()).isEqualTo(version + Double.parseDouble(id));
                }
            }
        }
    }

    /** The hits are there all the same, and each says why it has no columns. */
    private void assertGoodsHaveNoColumns(String reason) {
        for (String query : List.of(NEAREST_GOODS.formatted(Arrays.toString(corpus.vector(5))), ALL_GOODS)) {
            assertThat(client.post("/goods/_search", query).ok().at("/hits/hits"))
                    .hasSize(101)
                    .allMatch(hit -> hit.path("fields").size() == 1
                            && hit.at("/fields/items._error/0").asText().contains(reason));
        }
    }

    @Test
    @Order(1)
    void aDamagedVersionLeavesTheOneBeforeAndATableThatIsTakenAwayIsMissed() throws IOException {
        client.put("/goods2", withAttributes("{\"table\":\"damaged\",\"key\":\"number\"}"))
                .ok();
        client.put("/goods2/_doc/4?refresh=true", corpus.document(4)).ok();
        set("\"roost.tables.damaged.indexes\":[\"goods2\"]");
        Path draft = cluster.folder().resolve("damaged");
        seal(draft, 1, 10);
        cluster.node(0).put(draft, "roost-tables/damaged");
        awaitVersion("damaged", 1);
        seal(draft, 2, 10);
        try (RandomAccessFile file =
                new RandomAccessFile(draft.resolve("version-2.roost").toFile(), "rw")) {
            file.setLength(file.length() / 2);
        }
        cluster.node(0).put(draft.resolve("version-2.roost"), "roost-tables/damaged/version-2.roost");
        await(() -> stats().at("/attribute_tables/damaged").has("fault"));
        assertThat(stats().at("/attribute_tables/damaged/version").asInt()).isEqualTo(1);
        JsonNode fields = client.post("/goods2/_search", ALL_GOODS).ok().at("/hits/hits/0/fields");
        assertThat(fields).hasSize(3);
        assertThat(fields.at("/damaged.stock/0").asInt()).isEqualTo(4);
        assertThat(fields.at("/damaged.price/0").asDouble()).isEqualTo(5);

        Path tables = cluster.node(0).data().resolve("roost-tables");
        Files.move(tables.resolve("damaged"), cluster.folder().resolve("gone"));
        await(() ->
                client.post("/goods2/_search", ALL_GOODS).body().toString().contains("there is no table [damaged]"));
        client.delete("/goods2").ok();
    }

    @Test
    @Order(1)
    void statisticsTellOfWorkersAndOfTheTrafficOfTheIndex() {
        JsonNode before = stats();
        search("v", corpus.vector(0), 10, "");
        JsonNode after = stats();
        assertThat(after.path("topology").path("workers").asInt()).isPositive();
        assertThat(after.at("/tables/birds/searches").asLong())
                .isGreaterThan(before.at("/tables/birds/searches").asLong());
        assertThat(after.at("/tables/birds/traffic_bytes").asLong())
                .isGreaterThan(before.at("/tables/birds/traffic_bytes").asLong());
        assertThat(after.at("/tables/birds/homes").size()).isPositive();
        assertThat(client.get("/_plugins/_roost/nobody/stats")
                        .ok()
                        .at("/_nodes/total")
                        .asInt())
                .isZero();
    }

    private JsonNode stats() {
        return client.get("/_plugins/_roost/stats")
                .ok()
                .path("nodes")
                .elements()
                .next();
    }

    @Test
    @Order(1)
    void slicesRunOnRoostsWorkersUntilTheSettingSaysOtherwise() {
        long pooled = pooledSlices();
        long own = stats().at("/tasks/completed").asLong();
        long slices = stats().at("/slices/birds").asLong();
        for (int i = 0; i < 20; i++) {
            search("v", corpus.vector(i), 10, "");
        }
        assertThat(stats().at("/tasks/completed").asLong()).isGreaterThan(own);
        long slicesOfWorkers = stats().at("/slices/birds").asLong();
        assertThat(slicesOfWorkers).isGreaterThanOrEqualTo(slices + 20);
        assertThat(pooledSlices()).isEqualTo(pooled);

        set("\"roost.slices\":\"index_searcher\"");
        for (int i = 0; i < 20; i++) {
            search("v", corpus.vector(i), 10, "");
        }
        assertThat(pooledSlices()).isGreaterThan(pooled);
        assertThat(stats().at("/slices/birds").asLong()).isEqualTo(slicesOfWorkers);
        set("\"roost.slices\":null");
    }

    @Test
    @Order(1)
    void prometheusIsToldWhatTheStatisticsSay() {
        search("v", corpus.vector(0), 10, "");
        List<String> lines = client.text("/_plugins/_roost/metrics").lines().toList();
        assertThat(lines)
                .allMatch(line -> line.matches(
                        "# (HELP|TYPE) roost_[a-z_]+ .+|roost_[a-z_]+(\\{[a-z]+=\"[a-z0-9]+\"})? -?[0-9.]+"))
                .contains(
                        "# TYPE roost_tasks_total counter",
                        "roost_workers " + stats().at("/topology/workers").asInt());
        String traffic = lines.stream()
                .filter(line -> line.startsWith("roost_traffic_bytes_total{"))
                .findFirst()
                .orElseThrow();
        assertThat(Long.parseLong(traffic.substring(traffic.indexOf(' ') + 1))).isPositive();
    }

    @Test
    @Order(1)
    void aSearchThatWouldTakeTooMuchMemoryIsRefusedAndGivesBackWhatItTook() {
        set("\"roost.breaker.limit\":\"100b\"");
        Reply refused = search("v", corpus.vector(0), 10, "");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body().toString())
                .contains("circuit_breaking_exception")
                .contains("[roost]");
        set("\"roost.breaker.limit\":null");
        assertThat(search("v", corpus.vector(0), 10, ",\"effort\":5000").ids())
                .isEqualTo(corpus.nearest(corpus.vector(0), 10, id -> true));
        JsonNode breaker = client.get("/_nodes/stats/breaker")
                .ok()
                .path("nodes")
                .elements()
                .next()
                .at("/breakers/roost");
        assertThat(breaker.path("tripped").asInt()).isPositive();
        assertThat(breaker.path("estimated_size_in_bytes").asLong(-1)).isZero();
    }

    /**
     * OpenSearch looks at its disks every so often, and closes the indexes of a full one to all but searches and deletes. Comes
     * last: it also lets no more indexes be created.
     */
    @Test
    @Order(7)
    void aFullDiskRefusesDocumentsAndTheSearchesGoOn() {
        client.put("/full", "{" + ROOST + "}," + FIELDS + "}").ok();
        client.bulk("full", corpus.bulk(0, 100));
        client.post("/full/_refresh", "").ok();
        set("\"cluster.info.update.interval\":\"10s\",\"cluster.routing.allocation.disk.watermark.low\":\"900tb\","
                + "\"cluster.routing.allocation.disk.watermark.high\":\"900tb\","
                + "\"cluster.routing.allocation.disk.watermark.flood_stage\":\"900tb\"");
        await(() -> client.put("/full/_doc/100", corpus.document(100)).status() == 429);
        String query =
                "{\"size\":3,\"_source\":false,\"query\":{\"roost_knn\":{\"v\":{\"vector\":%s,\"k\":3,\"effort\":500}}}}"
                        .formatted(Arrays.toString(corpus.vector(5)));
        List<String> before = client.post("/full/_search", query).ids();
        assertThat(before).hasSize(3).first().isEqualTo("5");
        set("\"cluster.info.update.interval\":null,\"cluster.routing.allocation.disk.watermark.low\":null,"
                + "\"cluster.routing.allocation.disk.watermark.high\":null,"
                + "\"cluster.routing.allocation.disk.watermark.flood_stage\":null");
        client.put("/full/_settings", "{\"index.blocks.read_only_allow_delete\":null}")
                .ok();
        client.put("/full/_doc/100", corpus.document(100)).ok();
        assertThat(client.post("/full/_search", query).ids()).isEqualTo(before);
    }

    private static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it did not come about in " + PATIENCE);
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    private long pooledSlices() {
        return client.get("/_nodes/stats/thread_pool")
                .ok()
                .path("nodes")
                .elements()
                .next()
                .at("/thread_pool/index_searcher/completed")
                .asLong();
    }

    private void set(String setting) {
        client.put("/_cluster/settings", "{\"transient\":{" + setting + "}}").ok();
    }

    @Test
    @Order(1)
    void segmentsAreSearchedAtHomeWhereTheSettingSaysSo() {
        float[] vector = corpus.vector(40);
        set("\"roost.homes\":\"always\",\"roost.slices\":\"index_searcher\"");
        long before = stats().at("/tasks/completed").asLong();
        assertThat(search("v", vector, 10, ",\"effort\":5000").ids()).isEqualTo(corpus.nearest(vector, 10, id -> true));
        assertThat(stats().at("/tasks/completed").asLong()).isGreaterThan(before);
        Reply unknown = client.put("/_cluster/settings", "{\"transient\":{\"roost.homes\":\"sometimes\"}}");
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.body().toString()).contains("roost.homes must be one of auto, always, never, got sometimes");
        set("\"roost.homes\":null,\"roost.slices\":null");
    }

    @Test
    @Order(1)
    void graphsAreBuiltByRoostsWorkersUntilTheSettingSaysOtherwise() {
        client.put("/built", "{" + ROOST + "}," + FIELDS + "}").ok();
        long byWorkers = stats().at("/graph_builds/by_workers").asLong();
        // More than once only where the workers do not begin in time.
        await(() -> {
            client.post("/built/_bulk?refresh=true", corpus.bulk(0, 1_500)).ok();
            return stats().at("/graph_builds/by_workers").asLong() > byWorkers;
        });

        set("\"roost.builds\":\"lucene\"");
        // Merges that began before the setting changed end on the workers.
        await(() -> client.get("/_stats/merge")
                        .ok()
                        .at("/_all/total/merges/current")
                        .asLong(1)
                == 0);
        long after = stats().at("/graph_builds/by_workers").asLong();
        long byCallers = stats().at("/graph_builds/by_callers").asLong();
        client.post("/built/_bulk?refresh=true", corpus.bulk(1_500, 3_000)).ok();
        client.post("/built/_forcemerge?max_num_segments=1", "").ok();
        assertThat(stats().at("/graph_builds/by_callers").asLong()).isGreaterThan(byCallers);
        assertThat(stats().at("/graph_builds/by_workers").asLong()).isEqualTo(after);
        set("\"roost.builds\":null");

        client.post("/built/_refresh", "").ok();
        float[] vector = corpus.vector(70);
        Reply found = client.post("/built/_search", """
                {"_source":false,"query":{"roost_knn":{"v":{"vector":%s,"effort":3000}}}}""".formatted(Arrays.toString(vector)));
        assertThat(found.ids()).isEqualTo(corpus.nearest(vector, 10, id -> true));
        client.delete("/built").ok();
    }

    @Test
    @Order(1)
    void graphsThatLuceneWroteAreSearchedByRoostWhereTheSettingSaysSo() {
        String stock = ROOST + ",\"index.roost.stock_graphs\":\"%s\"}," + FIELDS + "}";
        assertThat(client.put("/stock", "{" + stock.formatted("jvector")).body().toString())
                .contains("index.roost.stock_graphs must be one of roost, lucene, got jvector");
        client.put("/stock", "{" + stock.formatted("roost")).ok();
        client.post("/stock/_bulk?refresh=true", corpus.bulk(0, corpus.size())).ok();
        assertThat(stats().path("stock_graphs").has("birds")).isFalse();
        findsTheNearestIn("stock");
        assertThat(stats().at("/stock_graphs/stock").asInt()).isPositive();

        client.post("/stock/_close", "").ok();
        client.put("/stock/_settings", "{\"index.roost.stock_graphs\":\"lucene\"}")
                .ok();
        client.post("/stock/_open", "").ok();
        findsTheNearestIn("stock");
        assertThat(stats().path("stock_graphs").has("stock")).isFalse();
        assertThat(client.put("/stock/_settings", "{\"index.roost.stock_graphs\":\"roost\"}")
                        .status())
                .isEqualTo(400);
        client.delete("/stock").ok();
    }

    private void findsTheNearestIn(String index) {
        for (int query = 0; query < 5; query++) {
            float[] vector = corpus.vector(query * 100);
            Reply found = client.post("/" + index + "/_search", """
                    {"size":10,"_source":false,"query":{"roost_knn":{"l":{"vector":%s,"k":10,"effort":3000}}}}""".formatted(Arrays.toString(vector)));
            assertThat(found.ids()).isEqualTo(corpus.nearest(vector, 10, id -> true));
        }
    }

    @Test
    @Order(2)
    void whatIsDeletedIsNotFoundBeforeAMergeOrAfter() {
        StringBuilder bulk = new StringBuilder();
        for (int id = 0; id < corpus.size(); id += DELETED_EVERY) {
            bulk.append("{\"delete\":{\"_id\":\"").append(id).append("\"}}\n");
        }
        client.post("/birds/_bulk?refresh=true", bulk.toString()).ok();
        assertFindsWhatIsLeft();
        client.post("/birds/_forcemerge?max_num_segments=1", "").ok();
        client.post("/birds/_refresh", "").ok();
        assertFindsWhatIsLeft();
    }

    private void assertFindsWhatIsLeft() {
        for (String field : List.of("v", "b", "l")) {
            for (int query = 0; query < 5; query++) {
                float[] vector = corpus.vector(query * 70);
                assertThat(search(field, vector, 10, ",\"effort\":5000").ids())
                        .isEqualTo(corpus.nearest(vector, 10, id -> id % DELETED_EVERY != 0));
            }
        }
    }

    @Test
    @Order(3)
    void aSnapshotIsRestored() {
        client.put(
                        "/_snapshot/disk",
                        "{\"type\":\"fs\",\"settings\":{\"location\":\"%s\"}}".formatted(cluster.snapshots()))
                .ok();
        client.put("/_snapshot/disk/one?wait_for_completion=true", "{\"indices\":\"birds\"}")
                .ok();
        client.delete("/birds").ok();
        assertThat(client.post("/_snapshot/disk/one/_restore?wait_for_completion=true", "{\"indices\":\"birds\"}")
                        .ok()
                        .at("/snapshot/shards/failed")
                        .asInt(-1))
                .isZero();
        assertFindsWhatIsLeft();
    }

    /** One file of each of three shards is damaged; the fourth shard and the other indexes go on. */
    @Test
    @Order(4)
    void aRestartKeepsAllAndADamagedShardHarmsNoOther() throws IOException {
        createInSeparateFiles("damaged", 4, corpus.size());
        createInSeparateFiles("altered", 1, corpus.size());
        List<String> unharmed =
                client.post("/damaged/_search?preference=_shards:3", EVERYTHING).ids();
        assertThat(unharmed).hasSizeBetween(500, 1_000);
        Path shards = shards("damaged");
        Path altered = shards("altered").resolve("0");
        LocalNode node = cluster.node(0);
        node.stop();
        change(one(shards.resolve("0"), ".vex"), file -> Arrays.copyOf(file, file.length / 2));
        change(one(shards.resolve("1"), ".vem"), OneNodeTest::withOneBitChanged);
        Path later = one(shards.resolve("2"), ".vex");
        change(later, OneNodeTest::ofALaterVersion);
        byte[] laterContent = Files.readAllBytes(later);
        for (Path graph : writtenByRoost(altered, ".vex")) {
            change(graph, OneNodeTest::withAnotherMiddle);
        }
        node.start();
        node.awaitAnswer(PATIENCE);
        client.get("/_cluster/health/birds,altered?wait_for_status=green&timeout=60s")
                .ok();
        assertFindsWhatIsLeft();

        assertHasFailed(0, "CorruptIndexException");
        assertHasFailed(1, "CorruptIndexException");
        assertHasFailed(2, "IndexFormatTooNewException");
        Reply left = client.post("/damaged/_search", EVERYTHING);
        assertThat(left.ok().at("/_shards/successful").asInt()).isEqualTo(1);
        assertThat(left.ids()).containsExactlyInAnyOrderElementsOf(unharmed);
        float[] vector = corpus.vector(9);
        assertThat(nearestIn("damaged", "v", vector).ids())
                .isEqualTo(corpus.nearest(vector, 10, id -> unharmed.contains(Integer.toString(id))));
        assertThat(later).hasBinaryContent(laterContent);
    }

    /** Such a file is opened: Lucene reads the checksums of large files when it copies or merges them. */
    @Test
    @Order(5)
    void anAlteredGraphIsOneErrorAndIsCopiedIntoNoSnapshot() {
        float[] vector = corpus.vector(9);
        JsonNode taken = client.put("/_snapshot/disk/two?wait_for_completion=true", "{\"indices\":\"altered,birds\"}")
                .ok();
        assertThat(taken.at("/snapshot/shards/failed").asInt()).isEqualTo(1);
        assertThat(taken.at("/snapshot/shards/successful").asInt()).isEqualTo(1);
        assertThat(taken.at("/snapshot/failures/0").toString())
                .contains("altered", "CorruptIndexException", "RoostVectorsFormat");
        assertThat(nearestIn("altered", "l", vector).ids()).isNotEmpty();

        Reply refused = nearestIn("altered", "v", vector);
        assertThat(refused.status()).isEqualTo(500);
        assertThat(refused.body().toString())
                .contains("corrupt_index_exception", "RoostVectorsFormat", "that does not exist");
        assertFindsWhatIsLeft();
    }

    private Reply nearestIn(String index, String field, float[] vector) {
        return client.post("/" + index + "/_search", """
                {"_source":false,"query":{"roost_knn":{"%s":{"vector":%s,"effort":100}}}}""".formatted(field, Arrays.toString(vector)));
    }

    /** Creates an index of one segment per shard, each part of it in a file of its own. */
    private void createInSeparateFiles(String index, int shards, int documents) {
        client.put(
                        "/" + index,
                        "{" + ROOST.replace("shards\":1", "shards\":" + shards) + ",\"index.compound_format\":false},"
                                + FIELDS + "}")
                .ok();
        // Two segments: the setting is for those that are merged.
        client.bulk(index, corpus.bulk(0, documents / 2));
        client.post("/" + index + "/_refresh", "").ok();
        client.bulk(index, corpus.bulk(documents / 2, documents));
        client.post("/" + index + "/_forcemerge?max_num_segments=1&flush=true", "")
                .ok();
        client.post("/" + index + "/_refresh", "").ok();
    }

    private Path shards(String index) {
        String uuid = client.get("/" + index)
                .ok()
                .at("/" + index + "/settings/index/uuid")
                .asText();
        return cluster.node(0).data().resolve("indices").resolve(uuid);
    }

    private static Path one(Path shard, String extension) throws IOException {
        return writtenByRoost(shard, extension).getFirst();
    }

    private static List<Path> writtenByRoost(Path shard, String extension) throws IOException {
        return files(shard, ".*_RoostVectorsFormat_[0-9]+\\" + extension);
    }

    private static List<Path> files(Path shard, String name) throws IOException {
        try (Stream<Path> files = Files.list(shard.resolve("index"))) {
            List<Path> found = files.filter(
                            file -> file.getFileName().toString().matches(name))
                    .toList();
            assertThat(found).as("%s in %s", name, shard).isNotEmpty();
            return found;
        }
    }

    private static void change(Path file, UnaryOperator<byte[]> change) throws IOException {
        Files.write(file, change.apply(Files.readAllBytes(file)));
    }

    private static byte[] withOneBitChanged(byte[] file) {
        file[file.length / 2] ^= 1;
        return file;
    }

    /** The version follows the magic number, the length of the codec's name, and the name. */
    private static byte[] ofALaterVersion(byte[] file) {
        file[Integer.BYTES + 1 + file[Integer.BYTES] + 3]++;
        return file;
    }

    private static byte[] withAnotherMiddle(byte[] file) {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = file.length / 4; i < file.length * 3 / 4; i++) {
            file[i] = (byte) random.nextInt();
        }
        return file;
    }

    private void assertHasFailed(int shard, String reason) {
        String body = "{\"index\":\"damaged\",\"shard\":%d,\"primary\":true}".formatted(shard);
        await(() -> client.post("/_cluster/allocation/explain", body)
                .ok()
                .at("/unassigned_info/reason")
                .asText()
                .equals("ALLOCATION_FAILED"));
        JsonNode explained = client.post("/_cluster/allocation/explain", body).ok();
        assertThat(explained.at("/unassigned_info/details").asText()).contains(reason, "RoostVectorsFormat");
    }

    @Test
    @Order(6)
    void nothingOfRoostWasDeniedByTheAgentOrFellBack() throws IOException {
        List<String> complaints = Files.readAllLines(cluster.node(0).log()).stream()
                .filter(line -> line.contains("[WARN ]") || line.contains("[ERROR]") || line.contains("Denied"))
                .filter(line -> line.contains("roost.") || line.contains("i.g.r.") || line.contains("Denied"))
                .filter(line -> !line.contains("damaged") && !line.contains("altered"))
                .toList();
        assertThat(complaints).isEmpty();
    }
}
