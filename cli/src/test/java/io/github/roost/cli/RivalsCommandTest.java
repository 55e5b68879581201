package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.testkit.Mixture;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RivalsCommandTest {
    private static final String SMALL = "bench rivals --rows 2000 --dimension 8 --m 4"
            + " --ef-construction 30 --peer none --rounds 2 --slice-millis 2";

    private static CommandRun small(Object... more) {
        return CommandRun.ofLine(SMALL, more);
    }

    @Test
    void printsALineAnEngineAndDrawsTheCurves(@TempDir Path folder) {
        CommandRun run = small("--ef", "10,20,200", "--threads", 1, "--picture", folder);
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("1 thread,", "| roost |", "| roost int8 |", "| jvector |");
        assertThat(folder.resolve("rivals-hnsw-mixture-k10-threads1.svg"))
                .content()
                .startsWith("<svg")
                .contains("roost int8");
    }

    @Test
    void jsonHoldsEveryFigure() throws Exception {
        CommandRun run = small("--k", "3,6", "--ef", "6,100", "--element", "int8", "--json");
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.get("engines")).hasSize(2);
        assertThat(root.at("/engines/0/bytesPerRow").asDouble()).isGreaterThan(8 * 8);
        assertThat(root.get("curves")).hasSize(4);
        assertThat(root.at("/curves/0/points")).hasSize(2);
        assertThat(root.at("/curves/0/points/0/searchesPerSecond")).hasSize(2);
        assertThat(root.at("/curves/0/atRecall")).hasSize(5);
    }

    @Test
    void comparesIvfTablesByInnerProductOneSearchAtATime() throws Exception {
        CommandRun run =
                small("--index", "ivf", "--metric", "ip", "--alone", "--nlist", 16, "--nprobe", "1,16", "--json");
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.get("workload").asText()).contains("inner product");
        assertThat(root.get("alone").asBoolean()).isTrue();
        assertThat(root.get("nlist").asInt()).isEqualTo(16);
        assertThat(root.get("engines"))
                .extracting(engine -> engine.get("engine").asText())
                .containsExactly("roost ivf float32", "roost ivf int8", "roost ivf");
        for (JsonNode curve : root.get("curves")) {
            assertThat(curve.at("/points/0/recall").asDouble())
                    .isLessThan(curve.at("/points/1/recall").asDouble());
            assertThat(curve.at("/points/1/recall").asDouble()).isGreaterThan(.95);
        }
    }

    @Test
    void rowsOfVariousNormsAreFoundByInnerProduct() throws Exception {
        CommandRun run =
                small("--element", "float32", "--metric", "ip", "--norm-spread", ".3", "--ef", "10,200", "--json");
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.get("workload").asText()).contains("norms spread by 0.3, inner product");
        for (JsonNode curve : root.get("curves")) {
            // A curve ends with the first width that finds .99.
            JsonNode points = curve.get("points");
            assertThat(points.get(points.size() - 1).get("recall").asDouble()).isGreaterThan(.95);
        }
    }

    @Test
    void rowsOfAFileAreSplitIntoRowsAndQueriesAndEmptyCellsSayWhy(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("base.fvecs");
        FloatVectors.write(file, Mixture.of(20, 8, new SplittableRandom(1)).draw(1_500, new SplittableRandom(2)));
        CommandRun run = CommandRun.ofLine(
                "bench rivals --m 4 --ef-construction 30 --peer none --rounds 2 --slice-millis 2 --metric cosine"
                        + " --element float32 --ef 200,300 --data",
                file);
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("1,350 x 8 ", "base.fvecs, cosine", "(SHA-256)", "| at least 1.000 |");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void aKeptTableIsNotBuiltAgain(String index, @TempDir Path folder) throws Exception {
        Object[] options = {
            "--index",
            index,
            "--element",
            "float32",
            "--rival",
            index.equals("ivf") ? "scann" : "hnswlib",
            "--keep",
            folder,
            "--json"
        };
        JsonNode first = new ObjectMapper().readTree(small(options).out());
        JsonNode second = new ObjectMapper().readTree(small(options).out());
        assertThat(second.get("engines")).isEqualTo(first.get("engines"));
        assertThat(second.at("/curves/0/points/0/recall")).isEqualTo(first.at("/curves/0/points/0/recall"));
    }

    @ParameterizedTest
    @CsvSource({
        "--rival, annoy, --rival must be of jvector",
        "--data, glove, '--data must be packages, mixture, glove100, glove50, floret300, minilm or an existing file, got glove'",
        "--queries, out, '--queries must be in without --data minilm, got out'",
        "--threads, 3, --threads must be between 1 and 2",
        "--element, codes, '--element must have float32 or int8 for a graph, got codes'",
        "--nlist, -1, --nlist must be between 0 and",
        "--norm-spread, -1, '--norm-spread must be between 0 and 2, got -1'",
        "--norm-spread, NaN, '--norm-spread must be between 0 and 2, got NaN'",
        "--ef, 10, --ef must have two widths of at least 10 for --k 10"
    })
    void whatIsNotAsExpectedIsSaid(String option, String value, String complaint) {
        CommandRun run = small(option, value);
        assertThat(run.status()).isNotZero();
        assertThat(run.complaints()).anyMatch(line -> line.contains(complaint));
    }
}
