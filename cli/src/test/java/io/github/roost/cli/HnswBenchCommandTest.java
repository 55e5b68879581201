package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HnswBenchCommandTest {
    private static final String SMALL = "bench hnsw --data mixture --rows 2000 --dimension 8 --m 4"
            + " --ef-construction 30 --peer none --rounds 1 --slice-millis 2";

    private static CommandRun small(Object... more) {
        return CommandRun.ofLine(SMALL, more);
    }

    @Test
    void printsACurveAnEngineAndDrawsThem(@TempDir Path folder) {
        CommandRun run = small("--k", "5", "--ef", "5,50", "--picture", folder);
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("k=5  roost, built in", "k=5  jvector, built in", "bytes off-heap");
        assertThat(folder.resolve("hnsw-mixture-k5.svg"))
                .content()
                .startsWith("<svg")
                .contains("jvector");
    }

    @Test
    void jsonHoldsEveryFigure() throws Exception {
        CommandRun run = small("--k", "3,6", "--ef", "3,20", "--json");
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.at("/tables/0/bytes").asLong()).isPositive();
        assertThat(root.at("/tables/0/allocatedBytesPerSearch/3").asLong()).isPositive();
        assertThat(root.get("curves")).hasSize(4);
        assertThat(root.at("/curves/0/points")).hasSize(2);
        // Of the widths only 20 can give 6 neighbors.
        assertThat(root.at("/curves/2/points")).hasSize(1);
        assertThat(root.at("/curves/2/points/0/searchesPerSecond/0").asDouble()).isPositive();
    }

    @Test
    void aTableOfEachElementTypeIsMeasured() {
        CommandRun run = small("--k", "5", "--ef", "5,50", "--element", "float32,int8");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains(
                        "roost: table",
                        "roost int8: table",
                        "roost int8: a search of k=5 allocates",
                        "k=5  roost int8, built in");
        assertThat(run.out().lines().filter(line -> line.startsWith("k=5 at recall 0.95")))
                .hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({
        "--rounds, 0, '--rounds must be between 1 and 10000, got 0'",
        "--centers, 0, '--centers must be between 1 and 1000000, got 0'",
        "--k, 500, '--ef must have a width of at least 500 for --k 500'",
        "--picture, no-such-folder, '--picture no-such-folder is not a directory'"
    })
    void wrongOptionsAreNamed(String option, String value, String message) {
        CommandRun run = CommandRun.of("bench", "hnsw", "--peer", "none", option, value);
        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains(message);
    }
}
