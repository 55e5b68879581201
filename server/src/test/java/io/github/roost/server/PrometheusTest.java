package io.github.roost.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.core.Registration;
import io.github.roost.testkit.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/reference/metrics.md and the dashboard promise, against what Debian's Prometheus has scraped. */
@Tag("program")
@SuppressWarnings("NullAway.Init")
class PrometheusTest {
    private static final Path PROMETHEUS = Path.of("/usr/bin/prometheus");
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Pattern DOCUMENTED =
            Pattern.compile("^\\| `(roost_\\w+)(?:\\{(\\w+)})?` \\| (\\w+) \\| (\\w+) \\|", Pattern.MULTILINE);
    private static final Pattern NAME = Pattern.compile("\\broost_\\w+");

    private static SmallService service;
    private static Process prometheus;
    private static HttpClient client;
    private static int port;

    /** One line of the guide's tables. */
    private record Series(String name, String label, String type, String unit) {
        /** A series that a scrape of it has. */
        String sample() {
            return switch (type) {
                case "summary", "histogram" -> name + "_count";
                default -> name;
            };
        }

        /** The name that types are told by: that of the family. */
        String family() {
            return name;
        }
    }

    @BeforeAll
    static void scrape(@TempDir Path folder) throws Exception {
        assumeTrue(Files.isExecutable(PROMETHEUS), "needs Debian's Prometheus: apt-get install prometheus");
        service = SmallService.ready();
        service.orchestrator.register("measured").recall(new Registration.Recall(.95, .93, .97, 100, 100, 10, false));
        assertThat(service.post("/search", "{\"like\":\"games-1\"}").status()).isEqualTo(200);
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path settings = folder.resolve("prometheus.yml");
        Files.writeString(
                settings,
                "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
                        + "scrape_configs: [{job_name: roost, static_configs: [{targets: ['127.0.0.1:"
                        + service.service.port() + "']}]}]\n");
        prometheus = new ProcessBuilder(
                        PROMETHEUS.toString(),
                        "--config.file=" + settings,
                        "--storage.tsdb.path=" + folder.resolve("tsdb"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("prometheus.log").toFile())
                .start();
        client = HttpClient.newHttpClient();
        Await.until(() -> {
            assertThat(prometheus.isAlive())
                    .as(() -> read(folder.resolve("prometheus.log")))
                    .isTrue();
            return scraped();
        });
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** The recall comes last: a scrape is a snapshot of up to a second ago, perhaps of before it was known. */
    private static boolean scraped() throws InterruptedException {
        try {
            return !ask("query?query=roost_table_recall").path("result").isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    @AfterAll
    static void end() throws InterruptedException {
        if (prometheus != null) {
            prometheus.destroy();
            prometheus.waitFor();
            client.close();
        }
        if (service != null) {
            service.close();
        }
    }

    private static JsonNode ask(String query) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + query))
                .build();
        return MAPPER.readTree(client.send(request, BodyHandlers.ofString()).body())
                .path("data");
    }

    private static List<Series> documented() throws IOException {
        return DOCUMENTED
                .matcher(Files.readString(Path.of("../docs/reference/metrics.md")))
                .results()
                .map(line -> new Series(
                        line.group(1), line.group(2) == null ? "" : line.group(2), line.group(3), line.group(4)))
                .toList();
    }

    /** The names of all series of the service that Prometheus holds. */
    private static Set<String> scrapedNames() throws IOException, InterruptedException {
        Set<String> names = new TreeSet<>();
        ask("label/__name__/values").forEach(name -> names.add(name.asText()));
        names.removeIf(name -> !name.startsWith("roost_"));
        return names;
    }

    @Test
    void everySeriesOfTheGuideIsScrapedWithItsTypeItsLabelAndAValue() throws Exception {
        assertThat(documented()).hasSizeGreaterThan(12);
        for (Series series : documented()) {
            JsonNode found = ask("query?query=" + series.sample()).path("result");
            assertThat(found).as(series.toString()).isNotEmpty();
            for (JsonNode each : found) {
                assertThat(Double.parseDouble(each.path("value").get(1).asText()))
                        .as(series.toString())
                        .isNotNegative()
                        .isFinite();
                assertThat(each.path("metric").has(series.label()))
                        .as(series.toString())
                        .isEqualTo(!series.label().isEmpty());
            }
            assertThat(type(series)).as(series.toString()).isEqualTo(series.type());
        }
    }

    /** OpenMetrics names a counter's family without the suffix that its samples have. */
    private static String type(Series series) throws IOException, InterruptedException {
        String family = series.family().replaceFirst("_total$", "");
        JsonNode known = ask("metadata?metric=" + family).path(family);
        if (known.isEmpty()) {
            known = ask("metadata?metric=" + series.family()).path(series.family());
        }
        return known.path(0).path("type").asText();
    }

    @Test
    void aUnitOfMeasureIsInTheNameAndNoOtherIs() throws Exception {
        for (Series series : documented()) {
            for (String unit : List.of("seconds", "bytes", "requests")) {
                assertThat(series.name().matches(".*_" + unit + "(_total|_max)?"))
                        .as(series.toString())
                        .isEqualTo(unit.equals(series.unit()));
            }
        }
    }

    @Test
    void theGuideLeavesNoSeriesOut() throws Exception {
        Set<String> families = documented().stream().map(Series::name).collect(Collectors.toSet());

        assertThat(scrapedNames())
                .isNotEmpty()
                .allMatch(name ->
                        families.contains(name) || families.contains(name.replaceFirst("_(count|sum|bucket)$", "")));
    }

    @Test
    void everyQueryOfTheDashboardIsOfSeriesThatAreThere() throws Exception {
        JsonNode dashboard =
                MAPPER.readTree(Path.of("../docs/reference/grafana/roost.json").toFile());
        List<String> queries = new ArrayList<>();
        dashboard
                .path("panels")
                .forEach(panel -> panel.path("targets")
                        .forEach(target -> queries.add(target.path("expr").asText())));
        Set<String> used = queries.stream()
                .flatMap(query -> NAME.matcher(query).results())
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(used).isNotEmpty().isSubsetOf(scrapedNames());
        for (String query : queries) {
            String plain = query.replace("$__rate_interval", "1m").replace("$job", ".*");
            assertThat(ask("query?query=" + URLEncoder.encode(plain, StandardCharsets.UTF_8))
                            .path("resultType")
                            .asText())
                    .as(query)
                    .isEqualTo("vector");
        }
    }
}
