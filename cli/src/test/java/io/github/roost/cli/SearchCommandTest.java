package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.bench.OrdinalRows;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.testkit.ExactSearch;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchResult;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("stress")
class SearchCommandTest {
    private static final int DIMENSION = 12;
    private static final int BASE = 2_000;
    private static final int QUERIES = 100;
    private static final int K = 10;
    private static final float[][] VECTORS = mixture(BASE, 1);
    private static final float[][] ASKED = mixture(QUERIES, 2);
    private static final SearchResult[] TRUTH = new ExactSearch(VECTORS).searchAll(ASKED, K);

    @TempDir
    Path folder;

    private Path base;
    private Path query;
    private Path truth;
    private Path out;

    /** A mixture of Gaussians, since real embeddings cluster. */
    private static float[][] mixture(int rows, long seed) {
        Random centers = new Random(0);
        float[][] center = new float[16][DIMENSION];
        for (float[] c : center) {
            for (int i = 0; i < DIMENSION; i++) {
                c[i] = (float) centers.nextGaussian() * 3;
            }
        }
        Random random = new Random(seed);
        float[][] vectors = new float[rows][DIMENSION];
        for (float[] vector : vectors) {
            float[] c = center[random.nextInt(center.length)];
            for (int i = 0; i < DIMENSION; i++) {
                vector[i] = c[i] + (float) random.nextGaussian();
            }
        }
        return vectors;
    }

    private static int[][] ordinals(SearchResult[] found) {
        return Arrays.stream(found)
                .map(row -> Arrays.stream(row.ids()).mapToInt(Math::toIntExact).toArray())
                .toArray(int[][]::new);
    }

    @BeforeEach
    void writeTheFiles() throws IOException {
        base = folder.resolve("b.fvecs");
        query = folder.resolve("q.fvecs");
        truth = folder.resolve("t.ivecs");
        out = folder.resolve("r.ivecs");
        FloatVectors.write(base, VECTORS);
        FloatVectors.write(query, ASKED);
        OrdinalRows.write(truth, ordinals(TRUTH));
    }

    private CommandRun search(String index, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("search", index, "--base", base, "--query", query));
        if (!List.of(more).contains("--k")) {
            arguments.addAll(List.of("--k", K));
        }
        arguments.addAll(List.of(more));
        return unhurried(arguments);
    }

    private CommandRun searchSaved(String index, Path table, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("search", index, "--table", table, "--query", query));
        arguments.addAll(List.of(more));
        return unhurried(arguments);
    }

    /** In as little time as measuring takes. */
    private static CommandRun unhurried(List<Object> arguments) {
        arguments.addAll(List.of("--warm-up", 0, "--seconds", .1));
        return CommandRun.of(arguments.toArray());
    }

    /** A search wide enough to see everything is exact, whatever the index. */
    static Stream<List<Object>> exhaustive() {
        return Stream.of(
                List.of("hnsw", "--ef", BASE),
                List.of("remote", "--partitions", 20, "--visited", 20),
                List.of("ivf", "--nlist", 20, "--nprobe", 20),
                List.of("ivf", "--nlist", 1));
    }

    @ParameterizedTest
    @MethodSource("exhaustive")
    void anExhaustiveSearchFindsTheExactNeighborsNearestFirst(List<Object> how) throws IOException {
        List<Object> more = new ArrayList<>(how.subList(1, how.size()));
        more.addAll(List.of("--truth", truth, "--out", out, "--json"));

        CommandRun run = search(how.getFirst().toString(), more.toArray());

        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(OrdinalRows.readTruth(out, QUERIES, K, BASE)).isDeepEqualTo(ordinals(TRUTH));
        assertThat(new ObjectMapper().readTree(run.out()).get("recall").asDouble())
                .isEqualTo(1);
    }

    @Test
    void anHdf5FileOfAnnBenchmarksIsBuiltSavedAndSearchedByItsMetric() throws IOException {
        Path hdf5 = folder.resolve("glove.hdf5");
        try (WritableHdfFile file = HdfFile.write(hdf5)) {
            file.putDataset("train", VECTORS);
            file.putDataset("test", ASKED);
            file.putAttribute("distance", "angular");
        }
        Path table = folder.resolve("glove.roost");

        CommandRun build = CommandRun.of("build", "hnsw", "--base", hdf5, "--out", table, "--json");
        CommandRun search = unhurried(new ArrayList<>(
                List.of("search", "hnsw", "--table", table, "--query", hdf5, "--k", K, "--ef", BASE, "--json")));

        assertThat(build.complaints()).isEmpty();
        assertThat(new ObjectMapper().readTree(build.out()).at("/table/metric").asText())
                .isEqualTo("COSINE");
        assertThat(search.complaints()).isEmpty();
        assertThat(new ObjectMapper().readTree(search.out()).get("queries").asInt())
                .isEqualTo(QUERIES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void theJsonObjectHasWhatItIsSaidToHave(String index) throws IOException {
        CommandRun run = search(index, "--truth", truth, "--in-flight", 7, "--json");

        JsonNode report = new ObjectMapper().readTree(run.out());
        assertThat(run.out().lines()).hasSize(1);
        assertThat(report.properties().stream().map(field -> field.getKey()).toList())
                .containsExactlyInAnyOrder(
                        "buildSeconds",
                        "queries",
                        "k",
                        "effort",
                        "inFlight",
                        "workers",
                        "qps",
                        "p50us",
                        "p99us",
                        "p999us",
                        "recall");
        assertThat(report.get("queries").asInt()).isEqualTo(QUERIES);
        assertThat(report.get("k").asInt()).isEqualTo(K);
        assertThat(report.get("inFlight").asInt()).isEqualTo(7);
        assertThat(report.get("workers").asInt()).isPositive();
        assertThat(report.get("qps").asDouble()).isPositive();
        assertThat(report.get("p50us").asDouble())
                .isPositive()
                .isLessThanOrEqualTo(report.get("p99us").asDouble());
        assertThat(report.get("recall").asDouble()).isBetween(.9, 1.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void withoutTruthThereIsNoRecall(String index) throws IOException {
        assertThat(new ObjectMapper().readTree(search(index, "--json").out()).has("recall"))
                .isFalse();
        assertThat(search(index).out()).contains("queries/s").doesNotContain("recall");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void aTableThatWasBuiltAndSavedFindsWhatOneInMemoryFinds(String index) throws IOException {
        Path table = folder.resolve("t.roost");
        String effort = index.equals("hnsw") ? "--ef" : "--nprobe";
        int all = index.equals("hnsw") ? BASE : 178;

        CommandRun built = CommandRun.of("build", index, "--base", base, "--out", table, "--json");
        CommandRun run = searchSaved(index, table, "--k", K, effort, all, "--truth", truth, "--out", out, "--json");

        assertThat(built.complaints()).isEmpty();
        JsonNode report = new ObjectMapper().readTree(built.out());
        assertThat(report.get("table").get("rows").asInt()).isEqualTo(BASE);
        assertThat(report.get("table").get("bytes").asLong()).isGreaterThan(4L * BASE * DIMENSION);
        assertThat(report.path("choice").asText()).matches(index.equals("hnsw") ? "(FLOAT32|INT8): .+" : "");
        assertThat(run.complaints()).isEmpty();
        assertThat(OrdinalRows.readTruth(out, QUERIES, K, BASE)).isDeepEqualTo(ordinals(TRUTH));
        JsonNode searched = new ObjectMapper().readTree(run.out());
        assertThat(searched.get("recall").asDouble()).isEqualTo(1);
        assertThat(searched.has("openSeconds")).isTrue();
        assertThat(searched.has("buildSeconds")).isFalse();
    }

    @Test
    void aSavedLiveTableIsSearchedToo() throws IOException {
        Path table = folder.resolve("t.live");
        try (Orchestrator orchestrator = orchestrator();
                LiveTable live = LiveTable.builder().build(orchestrator, ids(), VECTORS)) {
            live.save(table);
        }

        CommandRun run = searchSaved("hnsw", table, "--k", K, "--ef", BASE, "--out", out);

        assertThat(run.complaints()).isEmpty();
        assertThat(OrdinalRows.readTruth(out, QUERIES, K, BASE)).isDeepEqualTo(ordinals(TRUTH));
    }

    @Test
    void withoutNprobeAnIvfTableIsSearchedWithItsOwn() throws IOException {
        Path table = folder.resolve("t.ivf");
        try (Orchestrator orchestrator = orchestrator();
                IvfTable lists = IvfTable.builder().nlist(20).nprobe(3).build(orchestrator, ids(), VECTORS)) {
            lists.save(table);
        }

        CommandRun run = searchSaved("ivf", table, "--k", K, "--json");

        assertThat(run.complaints()).isEmpty();
        assertThat(new ObjectMapper().readTree(run.out()).get("effort").asInt()).isEqualTo(3);
    }

    @Test
    void aTableWithoutNlistHasAsManyListsAsTheLibraryMakes() throws IOException {
        CommandRun run = CommandRun.of("build", "ivf", "--base", base, "--out", folder.resolve("t.roost"), "--json");

        int parts;
        try (Orchestrator orchestrator = orchestrator();
                IvfTable lists = IvfTable.builder().nprobe(1).build(orchestrator, VECTORS)) {
            parts = lists.nlist();
        }
        assertThat(new ObjectMapper().readTree(run.out()).at("/table/parts").asInt())
                .isEqualTo(parts)
                .isEqualTo(178);
    }

    private static Orchestrator orchestrator() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
                .build();
    }

    private static long[] ids() {
        return LongStream.range(0, BASE).toArray();
    }

    @Test
    void aMeasurementOfLessThanATenthOfASecondIsRefused() {
        assertRefused(
                CommandRun.of("search", "hnsw", "--base", base, "--query", query, "--k", K, "--seconds", .05),
                "--seconds must be between 0.1 and 86400 seconds, got 0.05");
    }

    @Test
    void eachKAndEffortIsALineOfItsOwn() throws IOException {
        CommandRun json = search("hnsw", "--k", "1,10", "--ef", "10,40,160", "--truth", truth, "--json");
        CommandRun text = search("ivf", "--k", "5,10", "--nprobe", "1,8", "--element", "int8");

        List<JsonNode> reports = new ArrayList<>();
        for (String line : json.out().lines().toList()) {
            reports.add(new ObjectMapper().readTree(line));
        }
        assertThat(reports.stream()
                        .map(report -> report.get("k").asInt() + " at "
                                + report.get("effort").asInt()))
                .containsExactly("1 at 10", "1 at 40", "1 at 160", "10 at 10", "10 at 40", "10 at 160");
        assertThat(reports.getLast().get("recall").asDouble())
                .isGreaterThanOrEqualTo(reports.get(3).get("recall").asDouble());
        assertThat(text.complaints()).isEmpty();
        assertThat(text.out().lines().skip(3)).hasSize(4).last().asString().matches(" +10 +8 .*");
    }

    @Test
    void theNearestByCosineAreFound() throws IOException {
        float[][] scaled = new float[BASE][DIMENSION];
        for (int row = 0; row < BASE; row++) {
            for (int i = 0; i < DIMENSION; i++) {
                scaled[row][i] = VECTORS[row][i] * (1 + row % 7);
            }
        }
        FloatVectors.write(base, scaled);
        Path cosine = folder.resolve("cosine.ivecs");
        OrdinalRows.write(cosine, ordinals(new ExactSearch(directions(VECTORS)).searchAll(directions(ASKED), K)));

        CommandRun run = search("hnsw", "--metric", "cosine", "--ef", BASE, "--truth", cosine, "--json");

        // Rounding may swap two neighbors that are as far.
        assertThat(new ObjectMapper().readTree(run.out()).get("recall").asDouble())
                .isGreaterThan(.995);
    }

    private static float[][] directions(float[][] vectors) {
        float[][] directions = new float[vectors.length][];
        for (int row = 0; row < vectors.length; row++) {
            double squares = 0;
            for (float component : vectors[row]) {
                squares += (double) component * component;
            }
            directions[row] = new float[vectors[row].length];
            for (int i = 0; i < directions[row].length; i++) {
                directions[row][i] = (float) (vectors[row][i] / Math.sqrt(squares));
            }
        }
        return directions;
    }

    @Test
    void optionsThatContradictEachOtherAreRefusedBeforeTheWork() {
        Path table = folder.resolve("t.roost");
        assertRefused(search("hnsw", "--table", table), "--base or --table must be given, got both");
        assertRefused(
                unhurried(new ArrayList<>(List.of("search", "ivf", "--query", query, "--k", 3))),
                "--base or --table must be given, got neither");
        assertRefused(searchSaved("hnsw", table, "--k", 3, "--metric", "cosine"), "--metric", "with --table");
        assertRefused(search("hnsw", "--ef", "10,20", "--out", out), "--ef must be one value with --out, got 2");
        assertRefused(search("hnsw", "--k", "10,20", "--out", out), "--k must be one value with --out, got 2");
        assertRefused(
                search("hnsw", "--element", "float16"), "--element must be float32 or int8 for hnsw, got float16");
        assertRefused(searchSaved("hnsw", table, "--k", 3), "t.roost");
        assertRefused(
                CommandRun.of("build", "hnsw", "--base", base, "--out", folder),
                "--out " + folder + " is a directory, not a file");
    }

    @Test
    void aSearchOfTooFewListsFindsAllRowsAllTheSame() throws IOException {
        CommandRun run = search("ivf", "--nlist", 200, "--nprobe", 1, "--k", 500, "--out", out);

        assertThat(run.complaints()).isEmpty();
        assertThat(OrdinalRows.readTruth(out, QUERIES, 500, BASE)).hasDimensions(QUERIES, 500);
    }

    @Test
    void aBaseOfOneVectorIsSearched() throws IOException {
        FloatVectors.write(base, new float[][] {VECTORS[0]});
        for (String index : List.of("hnsw", "ivf")) {
            CommandRun run = search(index, "--k", 1, "--out", out);

            assertThat(run.complaints()).isEmpty();
            assertThat(OrdinalRows.readTruth(out, QUERIES, 1, 1)).hasDimensions(QUERIES, 1);
        }
    }

    @Test
    void aBaseOfEqualVectorsFillsEveryRow() throws IOException {
        float[][] equal = new float[300][];
        Arrays.fill(equal, VECTORS[0]);
        FloatVectors.write(base, equal);
        for (String index : List.of("hnsw", "ivf")) {
            CommandRun run = search(index, "--k", 300, "--out", out);

            assertThat(run.complaints()).isEmpty();
            assertThat(OrdinalRows.readTruth(out, QUERIES, 300, 300)).hasDimensions(QUERIES, 300);
        }
    }

    @Test
    void moreInFlightThanQueriesIsFine() {
        assertThat(search("hnsw", "--in-flight", 100_000).status()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "hnsw | --k 0            | --k must be between 1 and 10000, got 0",
                "hnsw | --k -5           | --k must be between 1 and 10000, got -5",
                "ivf  | --k 2001         | --k must be between 1 and the base's size of 2000, got 2001",
                "hnsw | --in-flight 0    | --in-flight must be between 1 and 1000000, got 0",
                "hnsw | --m 1            | --m must be between 2 and 256, got 1",
                "hnsw | --ef-construction 0 | --ef-construction must be between 1 and 10000, got 0",
                "hnsw | --ef 0           | --ef must be between 1 and 100000, got 0",
                "ivf  | --nlist 0        | --nlist must be between 1 and 131072, got 0",
                "ivf  | --nlist 2001     | --nlist must be at most the base's size of 2000, got 2001",
                "ivf  | --nprobe 0       | --nprobe must be between 1 and 131072, got 0",
                "ivf  | --nlist 10 --nprobe 11 | --nprobe must be at most --nlist 10, got 11",
                "ivf  | --nprobe 1000    | --nprobe must be at most --nlist 178, got 1000",
            })
    void aValueThatDoesNotFitIsOneLine(String index, String more, String message) {
        CommandRun run = search(index, (Object[]) more.split(" "));

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines()).containsExactly("roost: " + message);
    }

    @Test
    void optionsOfTheOtherIndexAreUnknown() {
        assertThat(search("hnsw", "--nlist", 4).status()).isEqualTo(2);
        assertThat(search("ivf", "--m", 4).status()).isEqualTo(2);
    }

    @Test
    void queriesOfAnotherDimensionAreRefused() throws IOException {
        FloatVectors.write(query, new float[][] {{1, 2, 3}});

        assertRefused(search("hnsw"), "--query must have the dimension of --base", "has 3", "has 12");
    }

    @Test
    void theTruthOfAnHdf5FileIsItsDatasetNeighbors() throws IOException {
        Path hdf5 = folder.resolve("truth.hdf5");
        try (WritableHdfFile file = HdfFile.write(hdf5)) {
            file.putDataset("neighbors", ordinals(TRUTH));
        }

        assertThat(search("hnsw", "--ef", BASE, "--truth", hdf5, "--json").out())
                .isNotEmpty()
                .contains("\"recall\":1.0");
        Path other = folder.resolve("other.hdf5");
        try (WritableHdfFile file = HdfFile.write(other)) {
            file.putDataset("neighbors", new float[QUERIES][K]);
        }
        assertRefused(search("hnsw", "--truth", other), "other.hdf5", "has ordinal 0 twice in row 0");
    }

    @Test
    void anEffortBelowKIsToldToBeRaised() {
        assertThat(search("hnsw", "--k", "10", "--ef", "4,7,20").err())
                .contains("k 10: ef must be at least 10, which is measured instead of 4, 7");
    }

    @Test
    void truthOfOtherQueriesIsRefused() throws IOException {
        OrdinalRows.write(truth, new int[][] {{1, 2, 3}});

        assertRefused(search("ivf", "--truth", truth), "t.ivecs", "one row per query, 100, got 1");
    }

    @Test
    void brokenAndMissingFilesAreRefusedByName() throws IOException {
        Files.write(query, new byte[] {12, 0, 0, 0, 1, 2, 3});
        assertRefused(search("hnsw"), "q.fvecs");

        Files.delete(query);
        assertRefused(search("hnsw"), "q.fvecs does not exist");
        assertThat(CommandRun.of("topology", "--xml", folder).err())
                .isEqualTo("roost: xml:" + folder + ": it is not a regular file\n");
        assertThat(CommandRun.of("memory-node", query).err()).isEqualTo("roost: " + query + ": does not exist\n");
        assertThat(CommandRun.of("memory-node", folder).err()).isEqualTo("roost: " + folder + ": Is a directory\n");

        FloatVectors.write(query, ASKED);
        Files.write(base, new byte[0]);
        assertRefused(search("ivf"), "b.fvecs is empty");
    }

    @Test
    void anOutputThatCannotBeWrittenIsRefusedBeforeTheWork() {
        assertRefused(search("hnsw", "--out", folder), "--out", "is a directory");
        assertRefused(search("hnsw", "--out", folder.resolve("none").resolve("r")), "--out", "no directory");
        assertRefused(search("hnsw", "--out", base), "--out", "--base", "overwrite");
    }

    @Test
    void aRefusedRunLeavesAnOlderResultAndNothingElse() throws IOException {
        Files.writeString(out, "older");

        assertRefused(search("hnsw", "--out", out, "--k", 3_000), "--k");

        assertThat(out).hasContent("older");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactlyInAnyOrder(base, query, truth, out);
        }
    }

    private static void assertRefused(CommandRun run, String... words) {
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err().lines())
                .singleElement()
                .asString()
                .startsWith("roost: ")
                .contains(words);
    }

    @Test
    void aTableOnDiskIsBuiltAndSearched() throws IOException {
        Path table = folder.resolve("t.disk");
        CommandRun built = CommandRun.of(
                "build", "disk", "--base", base.toString(), "--out", table.toString(), "--degree", "24", "--json");
        assertThat(built.status()).as(built.err()).isZero();
        assertThat(built.err()).contains("building the index of ");
        assertThat(new ObjectMapper()
                        .readTree(built.out())
                        .get("table")
                        .get("index")
                        .asText())
                .isEqualTo("disk");
        CommandRun found = CommandRun.of(
                "search",
                "disk",
                "--table",
                table.toString(),
                "--query",
                query.toString(),
                "--k",
                "10",
                "--width",
                "100",
                "--truth",
                truth.toString(),
                "--warm-up",
                "0",
                "--seconds",
                "1",
                "--json");
        assertThat(found.status()).as(found.err()).isZero();
        assertThat(new ObjectMapper().readTree(found.out()).get("recall").asDouble())
                .isGreaterThan(.95);
        CommandRun refused =
                CommandRun.of("search", "disk", "--base", base.toString(), "--query", query.toString(), "--k", "10");
        assertThat(refused.status()).isNotZero();
        assertThat(refused.err()).contains("--table must be given in the place of --base: roost build disk makes one");
    }
}
