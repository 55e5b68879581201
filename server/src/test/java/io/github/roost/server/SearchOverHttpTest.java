package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.server.SmallService.Answer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SearchOverHttpTest {
    private static final float[] QUERY = {.1f, .2f, -.3f, .4f, 0, 0, .5f, -1};
    private static SmallService service;

    @BeforeAll
    static void start() {
        service = SmallService.ready();
    }

    @AfterAll
    static void end() {
        service.close();
    }

    private static List<String> names(Answer answer) {
        return of(answer, "name");
    }

    private static List<String> of(Answer answer, String field) {
        assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
        return StreamSupport.stream(answer.json().path("hits").spliterator(), false)
                .map(hit -> hit.path(field).asText())
                .toList();
    }

    private static String body(String more) {
        return "{\"vector\":" + Arrays.toString(QUERY) + more + "}";
    }

    @Test
    void theTablesAreListedWithTheirRowsAndHomes() {
        JsonNode tables = service.get("/tables").json().path("tables");

        assertThat(tables).hasSize(2);
        assertThat(tables.get(0).path("name").asText()).isEqualTo("games");
        assertThat(tables.get(0).path("rows").asInt()).isGreaterThanOrEqualTo(SmallService.ROWS);
        assertThat(tables.get(0).path("dimension").asInt()).isEqualTo(SmallService.DIMENSION);
        assertThat(tables.get(0).path("homes").get(0).asInt()).isBetween(0, 1);
        assertThat(service.get("/tables/net").json().path("name").asText()).isEqualTo("net");
    }

    @Test
    void aSearchByVectorFindsWhatIsNearest() {
        assertThat(names(service.post("/tables/games/search", body(",\"k\":7"))))
                .isEqualTo(service.exact(List.of("games"), QUERY, 7));
    }

    @Test
    void tenAreFoundWhereTheRequestDoesNotSay() {
        assertThat(names(service.post("/tables/net/search", body("")))).hasSize(10);
    }

    @Test
    void aSearchOfAllTablesMergesTheirAnswers() {
        Answer answer = service.post("/search", body(",\"k\":20"));

        assertThat(names(answer)).isEqualTo(service.exact(List.of("games", "net"), QUERY, 20));
        assertThat(answer.json().path("ran")).hasSize(2);
    }

    @Test
    void anAnswerTellsWhichWorkerOfWhichDomainGaveIt() {
        JsonNode ran = service.post("/tables/games/search", body("")).json().path("ran");

        assertThat(ran).hasSize(1);
        assertThat(ran.get(0).path("table").asText()).isEqualTo("games");
        int worker = ran.get(0).path("worker").asInt(-1);
        assertThat(worker).isBetween(0, 3);
        assertThat(ran.get(0).path("domain").asInt()).isEqualTo(worker / 2);
    }

    @Test
    void anAnswerLeavesOutWhereItWasSearchedIfAskedTo() {
        JsonNode answer =
                service.post("/tables/games/search", body(",\"ran\":false")).json();

        assertThat(answer.has("ran")).isFalse();
        assertThat(answer.path("hits")).hasSize(10);
    }

    @Test
    void aRowOfAnyTableIsAsGoodAsItsVector() {
        assertThat(names(service.post("/tables/games/search", "{\"like\":\"games-17\",\"k\":1}")))
                .containsExactly("games-17");
        float[] vector = service.vector("games-17");
        assertThat(names(service.post("/tables/net/search", "{\"like\":\"games-17\",\"k\":3}")))
                .isEqualTo(service.exact(List.of("net"), vector, 3));
    }

    @Test
    void aKnownPhraseIsAsGoodAsItsVector() {
        String phrase = service.get("/phrases").json().path("phrases").get(0).asText();

        assertThat(phrase).isEqualTo(SmallService.PHRASE);
        assertThat(names(service.post("/tables/net/search", "{\"like\":\"" + phrase + "\",\"k\":5}")))
                .isEqualTo(service.exact(List.of("net"), new float[SmallService.DIMENSION], 5));
    }

    @Test
    void aFilterLetsOnlyThoseRowsBeFoundThatMeetAllItsConditions() {
        assertThat(names(service.post("/tables/games/search", body(",\"filter\":{\"ids\":[3,4,5],\"notIds\":[4]}"))))
                .containsExactlyInAnyOrder("games-3", "games-5");
        assertThat(names(service.post("/tables/games/search", body(",\"filter\":{\"nameContains\":\"-19\"},\"k\":50"))))
                .hasSize(11)
                .allMatch(name -> name.contains("-19"));
    }

    @Test
    void rowsAreFilteredByTheirAttributes() {
        String row = ",\"vector\":" + Arrays.toString(QUERY) + ",\"attributes\":";
        service.post(
                "/tables/net/vectors",
                "{\"vectors\":[{\"id\":9001" + row
                        + "{\"kind\":\"lamp\",\"price\":20,\"tags\":[\"new\",\"led\"]}}," + "{\"id\":9002"
                        + row + "{\"kind\":\"desk\",\"price\":20.50,\"sold\":true}}]}");

        assertThat(names(filtered("{\"kind\":\"lamp\"}"))).containsExactly("9001");
        assertThat(names(filtered("{\"kind\":[\"lamp\",\"desk\"]}"))).containsExactlyInAnyOrder("9001", "9002");
        assertThat(names(filtered("{\"price\":20.0,\"tags\":\"led\"}"))).containsExactly("9001");
        assertThat(names(filtered("{\"price\":20.5,\"sold\":true}"))).containsExactly("9002");
        assertThat(names(filtered("{\"price\":20,\"sold\":true}"))).isEmpty();
        assertThat(names(filtered("{\"price\":\"20\"}"))).isEmpty();
        service.delete("/tables/net/vectors/9001");
        service.delete("/tables/net/vectors/9002");
    }

    private static Answer filtered(String attributes) {
        return service.post("/search", body(",\"filter\":{\"attributes\":" + attributes + "}"));
    }

    @Test
    void moreEffortComparesMoreAndATargetRecallChoosesIt() {
        assertThat(visited(",\"effort\":10")).isLessThan(visited(",\"effort\":100"));
        Answer answer = service.post("/tables/games/search", body(",\"targetRecall\":1"));

        assertThat(names(answer)).isEqualTo(service.exact(List.of("games"), QUERY, 10));
    }

    private static int visited(String effort) {
        return service.post("/tables/games/search", body(effort))
                .json()
                .at("/ran/0/visited")
                .asInt();
    }

    @Test
    void aNumberIsTheIdOfARow() {
        assertThat(names(service.post("/tables/net/search", "{\"like\":1005,\"k\":1}")))
                .containsExactly("net-5");
        assertThat(names(service.post("/tables/games/search", "{\"like\":5.0,\"k\":1}")))
                .containsExactly("games-5");
    }

    @Test
    void aRowThatIsPutIsFoundAndOneThatIsRemovedIsNot() {
        String put = "{\"vectors\":[{\"id\":77777,\"vector\":" + Arrays.toString(QUERY)
                + ",\"name\":\"newcomer\",\"text\":\"just arrived\"}]}";

        assertThat(service.post("/tables/games/vectors", put)
                        .json()
                        .path("added")
                        .asInt())
                .isEqualTo(1);
        assertThat(service.post("/tables/games/vectors", put)
                        .json()
                        .path("replaced")
                        .asInt())
                .isEqualTo(1);
        assertThat(names(service.post("/tables/games/search", body(",\"k\":1"))))
                .containsExactly("newcomer");
        assertThat(service.delete("/tables/games/vectors/77777").status()).isEqualTo(200);
        assertThat(names(service.post("/tables/games/search", body(",\"k\":200"))))
                .doesNotContain("newcomer");
        assertThat(service.delete("/tables/games/vectors/77777").status()).isEqualTo(404);
    }

    @Test
    void aRowIsPutReplacedAndRemovedByItsKey() {
        String first = "{\"vectors\":[{\"key\":\"sku-17\",\"vector\":" + Arrays.toString(QUERY)
                + "},{\"key\":\"sku-18\",\"vector\":" + "[9,9,9,9,9,9,9,9]" + "}]}";
        String second = "{\"vectors\":[{\"key\":\"sku-18\",\"vector\":" + Arrays.toString(QUERY) + "}]}";

        assertThat(service.post("/tables/games/vectors", first)
                        .json()
                        .path("added")
                        .asInt())
                .isEqualTo(2);
        assertThat(of(service.post("/tables/games/search", body(",\"k\":1")), "key"))
                .containsExactly("sku-17");
        assertThat(service.post("/tables/games/vectors", second)
                        .json()
                        .path("replaced")
                        .asInt())
                .isEqualTo(1);
        assertThat(of(service.post("/tables/games/search", body(",\"k\":2")), "key"))
                .containsExactlyInAnyOrder("sku-17", "sku-18");
        assertThat(of(service.post("/tables/games/search", "{\"like\":\"sku-18\",\"k\":2}"), "key"))
                .containsExactly("sku-17", "sku-18");
        for (String key : List.of("sku-17", "sku-18")) {
            assertThat(service.delete("/tables/games/vectors/" + key).status()).isEqualTo(200);
            assertThat(service.delete("/tables/games/vectors/" + key).status()).isEqualTo(404);
        }
    }

    @Test
    void aNewKeyTakesNoIdThatTheSameRequestNames() {
        String row = ",\"vector\":" + Arrays.toString(QUERY) + "}";
        service.post("/tables/games/vectors", "{\"vectors\":[{\"key\":\"before\"" + row + "]}");
        long last = service.post("/tables/games/search", body(",\"k\":1"))
                .json()
                .at("/hits/0/id")
                .asLong();
        Answer put = service.post(
                "/tables/games/vectors",
                "{\"vectors\":[{\"key\":\"https://a.example/b?c#d\"" + row + ",{\"id\":" + (last + 1) + row
                        + ",{\"key\":\"after\"" + row + "]}");
        assertThat(put.json().path("added").asInt()).isEqualTo(3);
        String same = "{\"vectors\":[{\"key\":\"after\"" + row + ",{\"id\":" + (last + 3) + row + "]}";
        assertThat(service.post("/tables/games/vectors", same).status()).isEqualTo(422);
        for (String removed :
                List.of("before", "https:%2F%2Fa.example%2Fb%3Fc%23d", "after", String.valueOf(last + 1))) {
            assertThat(service.delete("/tables/games/vectors/" + removed).status())
                    .as(removed)
                    .isEqualTo(200);
        }
    }

    @Test
    void ofTwoRowsOfOneNameTheOneThatIsLeftIsStillKnownByIt() {
        String row = ",\"vector\":" + Arrays.toString(QUERY) + ",\"name\":\"twin\"}";
        service.post("/tables/games/vectors", "{\"vectors\":[{\"id\":6001" + row + ",{\"id\":6002" + row + "]}");

        service.delete("/tables/games/vectors/6002");
        assertThat(service.post("/search", "{\"like\":\"twin\"}").status()).isEqualTo(200);

        service.delete("/tables/games/vectors/6001");
        assertThat(service.post("/search", "{\"like\":\"twin\"}").status()).isEqualTo(422);
    }

    @Test
    void aRowIsKnownByItsNameHoweverOftenItIsPut() {
        String named = "{\"vectors\":[{\"id\":6003,\"name\":\"%s\",\"vector\":" + Arrays.toString(QUERY) + "}]}";
        for (String name : List.of("seven", "seven", "eight", "seven")) {
            service.post("/tables/games/vectors", named.formatted(name));
            assertThat(service.post("/search", "{\"like\":\"" + name + "\"}").status())
                    .isEqualTo(200);
        }
        assertThat(service.post("/search", "{\"like\":\"eight\"}").status()).isEqualTo(422);
        service.delete("/tables/games/vectors/6003");
        assertThat(service.post("/search", "{\"like\":\"seven\"}").status()).isEqualTo(422);
    }

    @Test
    void aFilterNamesRowsByNumberAndByKeyWhichComesFirst() {
        String row = ",\"vector\":" + Arrays.toString(QUERY) + "}";
        service.post("/tables/games/vectors", "{\"vectors\":[{\"id\":6004" + row + ",{\"id\":6005" + row + "]}");
        service.post("/tables/games/vectors", "{\"vectors\":[{\"key\":\"code\"" + row + "]}");
        for (String[] each : new String[][] {
            {"{\"ids\":[6004]}", "6004"},
            {"{\"ids\":[\"6005\"]}", "6005"},
            {"{\"ids\":[6004,\"6005\",\"nothing\"],\"notIds\":[6005]}", "6004"},
            {"{\"ids\":[\"code\",6004],\"notIds\":[\"6004\"]}", "code"}
        }) {
            JsonNode hits = service.post("/tables/games/search", body(",\"k\":9,\"filter\":" + each[0]))
                    .json()
                    .path("hits");
            assertThat(hits).as(each[0]).hasSize(1);
            assertThat(hits.toString()).contains(each[1]);
        }
        for (String id : List.of("6004", "6005", "code")) {
            service.delete("/tables/games/vectors/" + id);
        }
    }

    @Test
    void ofABatchWithOneBadRowNothingIsPut() {
        Answer answer = service.post(
                "/tables/games/vectors",
                "{\"vectors\":[{\"id\":5000,\"vector\":" + Arrays.toString(QUERY) + "},{\"id\":5001,\"vector\":[1]}]}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.error()).isEqualTo("vector 1 must have 8 dimensions, got 1");
        assertThat(service.delete("/tables/games/vectors/5000").status()).isEqualTo(404);
    }

    @Test
    void mappingTopologyAndStatsAreTheOrchestratorsOwn() {
        service.post("/tables/games/search", body(""));

        assertThat(service.get("/mapping").json().path("epoch").asLong())
                .isEqualTo(service.orchestrator.mapping().epoch());
        assertThat(service.get("/mapping").json().path("tables")).hasSize(2);
        assertThat(service.get("/topology").json().path("domains")).hasSize(2);
        JsonNode stats = service.get("/stats").json();
        assertThat(stats.path("orchestrator").path("workers")).hasSize(4);
        assertThat(stats.path("service").path("searches").asLong()).isPositive();
    }

    @Test
    void theTimeOfRecentSearchesIsKnown() {
        service.post("/search", body(""));
        JsonNode stats = service.get("/stats").json().path("service");

        assertThat(stats.path("p50Millis").asDouble()).isPositive();
        assertThat(stats.path("p999Millis").asDouble())
                .isGreaterThanOrEqualTo(stats.path("p50Millis").asDouble());
    }

    @Test
    void metricsComeAsPrometheusTextOrAsOpenMetrics() {
        assertThat(service.get("/metrics").response().body())
                .contains("# TYPE roost_tasks_total counter")
                .doesNotContain("# EOF");
        Answer open = service.send(java.net.http.HttpRequest.newBuilder(service.uri("/metrics"))
                .header("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
                .build());
        assertThat(open.response().headers().firstValue("Content-Type").orElseThrow())
                .startsWith("application/openmetrics-text");
        assertThat(open.response().body()).endsWith("# EOF\n");
    }

    @Test
    void aServiceWithTablesIsLiveAndReady() {
        assertThat(service.get("/health/live").status()).isEqualTo(200);
        assertThat(service.get("/health/ready").status()).isEqualTo(200);
    }
}
