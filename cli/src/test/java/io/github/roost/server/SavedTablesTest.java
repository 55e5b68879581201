package io.github.roost.server;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.cli.CommandRun;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.io.BlockIo;
import io.github.roost.server.SmallService.Answer;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.SearchCost;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Saved tables of each index, served beside each other. */
@SuppressWarnings("NullAway.Init")
class SavedTablesTest {
    private static final int ROWS = 300;
    private static final int DIMENSION = 8;
    private static final long[] IDS = LongStream.range(0, ROWS).toArray();
    private static final List<String> KINDS = List.of("hnsw", "live", "ivf", "disk");
    /** The vectors of each table, which are of no other table. */
    private static final Map<String, float[][]> VECTORS = new HashMap<>();

    @TempDir
    private static Path folder;

    private static SmallService service;
    private static Tables tables;

    @BeforeAll
    static void serve() throws IOException {
        Random random = new Random(9);
        KINDS.forEach(kind -> VECTORS.put(kind, vectors(random)));
        try (Orchestrator orchestrator = oneWorker()) {
            save(HnswTable.builder().build(orchestrator, IDS, vectorsOf("hnsw")), "hnsw");
            save(LiveTable.builder().build(orchestrator, IDS, vectorsOf("live")), "live");
            save(IvfTable.builder().nlist(4).nprobe(4).build(orchestrator, IDS, vectorsOf("ivf")), "ivf");
            try (BlockIo io = BlockIo.builder(orchestrator).build()) {
                DiskTable.builder().build(orchestrator, io, file("disk"), IDS, vectorsOf("disk"));
            }
        }
        service = new SmallService("pack:1 l3:2 core:1 pu:1", 1_024, ServeSettings.DEFAULT);
        Map<String, Path> files = new LinkedHashMap<>();
        KINDS.forEach(kind -> files.put(kind, file(kind)));
        tables = SavedTables.of(files).open(service.orchestrator);
        service.service.serve(tables);
    }

    @AfterAll
    static void end() {
        service.close();
    }

    private static Orchestrator oneWorker() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build();
    }

    private static float[][] vectors(Random random) {
        return gaussian(ROWS, DIMENSION, random);
    }

    private static float[][] vectorsOf(String kind) {
        return VECTORS.getOrDefault(kind, new float[0][]);
    }

    private static Path file(String kind) {
        return folder.resolve(kind + ".table");
    }

    private static void save(VectorTable table, String kind) throws IOException {
        try (table) {
            table.save(file(kind));
        }
    }

    private static List<Integer> ids(Answer answer) {
        assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
        return StreamSupport.stream(answer.json().path("hits").spliterator(), false)
                .map(hit -> hit.path("id").asInt())
                .toList();
    }

    private static String like(String kind, int row) {
        return "{\"vector\":" + Arrays.toString(vectorsOf(kind)[row]) + ",\"k\":5}";
    }

    @Test
    void allAreListedWithTheirRowsAndHomes() {
        JsonNode listed = service.get("/tables").json().path("tables");

        assertThat(listed).hasSize(KINDS.size()).allSatisfy(table -> {
            assertThat(table.path("rows").asInt()).isEqualTo(ROWS);
            assertThat(table.path("homes")).isNotEmpty();
        });
        // The lists of this table have a home each, of the two domains.
        assertThat(service.get("/tables/ivf").json().path("homes")).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "live", "ivf", "disk"})
    void aRowIsFoundByItsVectorAndHasAnIdAndNoWords(String kind) {
        Answer answer = service.post("/tables/" + kind + "/search", like(kind, 17));

        assertThat(ids(answer)).hasSize(5).startsWith(17);
        JsonNode nearest = answer.json().path("hits").get(0);
        assertThat(nearest.path("table").asText()).isEqualTo(kind);
        assertThat(nearest.path("distance").asDouble()).isZero();
        assertThat(nearest.path("name").asText() + nearest.path("text").asText())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "live", "ivf", "disk"})
    void aQueryByIdIsOfTheTableThatIsSearched(String kind) {
        Answer answer = service.post("/tables/" + kind + "/search", "{\"like\":\"23\",\"k\":1}");

        assertThat(ids(answer)).containsExactly(23);
        assertThat(answer.json().path("hits").get(0).path("distance").asDouble())
                .isZero();
    }

    @Test
    void anIdThatNoTableHasIsRefused() {
        assertThat(service.post("/search", "{\"like\":\"" + ROWS + "\"}").error())
                .isEqualTo("like must be the id or the name of a row, or one of the phrases of GET /phrases, got \""
                        + ROWS + "\"");
    }

    @Test
    void aSearchOfAllMergesWhatEachFinds() {
        Answer answer = service.post("/search", like("disk", 3));

        assertThat(answer.json().path("hits").get(0).path("table").asText()).isEqualTo("disk");
        assertThat(answer.json().path("ran")).hasSize(KINDS.size());
        assertThat(answer.json().path("hits").findValuesAsText("distance").stream()
                        .map(Double::valueOf)
                        .toList())
                .hasSize(5)
                .isSorted();
    }

    @Test
    void whatASearchCostIsWhatTheTableSays() {
        JsonNode ran = service.post("/tables/ivf/search", like("ivf", 5))
                .json()
                .path("ran")
                .get(0);
        SearchCost cost = tables.find("ivf")
                .orElseThrow()
                .rows()
                .search(SearchRequest.of(vectorsOf("ivf")[5], 5))
                .join()
                .cost();

        assertThat(ran.path("visited").asLong()).isEqualTo(cost.visited()).isEqualTo(ROWS);
        assertThat(ran.path("expanded").asLong()).isEqualTo(cost.expanded()).isEqualTo(4);
        assertThat(ran.has("worker")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "live", "ivf", "disk"})
    void aFilterLeavesOthersOut(String kind) {
        String body = like(kind, 17).replace("}", ",\"filter\":{\"ids\":[3,17,40],\"notIds\":[17]}}");

        assertThat(ids(service.post("/tables/" + kind + "/search", body))).containsExactlyInAnyOrder(3, 40);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "live", "ivf", "disk"})
    void changesAreRefused(String kind) {
        String put = "{\"vectors\":[{\"id\":1000,\"vector\":" + Arrays.toString(vectorsOf(kind)[0]) + "}]}";

        assertThat(service.post("/tables/" + kind + "/vectors", put).status()).isEqualTo(409);
        assertThat(service.delete("/tables/" + kind + "/vectors/1").error())
                .isEqualTo("table " + kind + " is served as it was saved: it takes no changes");
        assertThat(tables.find(kind).orElseThrow().rows().size()).isEqualTo(ROWS);
    }

    private static CommandRun serving(String... saved) {
        Object[] arguments = new Object[3 + 2 * saved.length];
        arguments[0] = "serve";
        arguments[1] = "--port";
        arguments[2] = 0;
        for (int i = 0; i < saved.length; i++) {
            arguments[3 + 2 * i] = "--table";
            arguments[4 + 2 * i] = saved[i];
        }
        return CommandRun.of(arguments);
    }

    private static void assertRefused(CommandRun run, String... parts) {
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.complaints()).hasSize(1);
        assertThat(run.complaints().getFirst()).contains(parts);
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        String gone = folder.resolve("gone.table").toString();

        assertRefused(serving(file("hnsw").toString(), gone), "--table " + gone, "there is no file");
    }

    @Test
    void aFileThatIsNoTableIsNamed() throws IOException {
        Path text = Files.writeString(folder.resolve("notes.txt"), "no table, just words");

        assertRefused(
                serving("words=" + text),
                "notes.txt",
                "must be a saved table of HnswTable, LiveTable, IvfTable or DiskTable to be served");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "live", "ivf", "disk"})
    void aDamagedFileIsNamed(String kind) throws IOException {
        Path cut = folder.resolve("cut-" + kind);
        Files.write(cut, Arrays.copyOf(Files.readAllBytes(file(kind)), (int) Files.size(file(kind)) / 2));

        assertRefused(serving(cut.toString()), cut.toString());
    }

    @Test
    void aNameThatTwoTablesHaveIsNamed() {
        assertRefused(
                serving("x=" + file("hnsw"), "x=" + file("ivf")),
                "--table must give each table its own name, got x for " + file("hnsw") + " and for " + file("ivf"));
    }

    @Test
    void aTableWithoutANameIsRefused() {
        assertRefused(serving("=" + file("hnsw")), "--table must be NAME=TABLE or TABLE, got =");
    }

    @Test
    void tablesOfDifferentDimensionsAreRefusedAndNoneStaysOpen() throws IOException {
        Path flat = folder.resolve("flat.table");
        try (Orchestrator orchestrator = oneWorker()) {
            try (HnswTable table = HnswTable.builder().build(orchestrator, new long[] {1}, new float[][] {{1, 2}})) {
                table.save(flat);
            }
            SavedTables saved = SavedTables.of(Map.of("flat", flat, "hnsw", file("hnsw")));

            assertThatThrownBy(() -> saved.open(orchestrator))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("tables that are served together must have one dimension and metric, got ")
                    .hasMessageContaining("flat (2, SQUARED_L2)")
                    .hasMessageContaining("hnsw (8, SQUARED_L2)");
            assertThat(orchestrator.mapping().tables()).isEmpty();
        }
    }

    @Test
    void aPoolOrAVersionOfATableOfRowsIsNoneToServe() throws IOException {
        Path version = Files.writeString(folder.resolve("version.table"), "ROSTTABL and so on");

        assertThatThrownBy(() -> SavedTables.of(Map.of("version", version)))
                .isInstanceOf(FileFormatException.class)
                .hasMessageContaining("version.table");
    }
}
