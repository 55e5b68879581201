package io.github.roost.examples.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RivalsCommandTest {
    private static final Object[] SMALL = {
        "bench",
        "rivals",
        "--rows",
        2_000,
        "--dimension",
        8,
        "--m",
        4,
        "--ef-construction",
        30,
        "--peer",
        "none",
        "--rounds",
        2,
        "--slice-millis",
        2
    };

    private static CommandRun small(Object... more) {
        Object[] all = Arrays.copyOf(SMALL, SMALL.length + more.length);
        System.arraycopy(more, 0, all, SMALL.length, more.length);
        return CommandRun.of(all);
    }

    @Test
    void printsALineAnEngineAndDrawsTheCurves(@TempDir Path folder) {
        CommandRun run = small("--ef", "10,20,200", "--threads", 1, "--picture", folder);
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("1 thread,", "| roost |", "| roost int8 |", "| roost neighbor codes |", "| jvector |");
        assertThat(folder.resolve("rivals-mixture-k10-threads1.svg"))
                .content()
                .startsWith("<svg")
                .contains("roost neighbor codes");
    }

    @Test
    void jsonHoldsEveryFigure() throws Exception {
        CommandRun run = small("--k", "3,6", "--ef", "6,100", "--element", "codes", "--json");
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.get("engines")).hasSize(2);
        assertThat(root.at("/engines/0/bytesPerRow").asDouble()).isGreaterThan(8 * 8);
        assertThat(root.get("curves")).hasSize(4);
        assertThat(root.at("/curves/0/points")).hasSize(2);
        assertThat(root.at("/curves/0/points/0/searchesPerSecond")).hasSize(2);
        assertThat(root.at("/curves/0/atRecall")).hasSize(5);
    }

    @ParameterizedTest
    @CsvSource({
        "--rival, annoy, --rival must be of jvector",
        "--threads, 3, --threads must be between 1 and 2",
        "--ef, 10, --ef must have two widths of at least 10 for --k 10"
    })
    void whatIsNotAsExpectedIsSaid(String option, String value, String complaint) {
        CommandRun run = small(option, value);
        assertThat(run.status()).isNotZero();
        assertThat(run.complaints()).anyMatch(line -> line.contains(complaint));
    }
}
