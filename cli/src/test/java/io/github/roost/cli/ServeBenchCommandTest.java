package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.roost.testkit.packages.FewPackages;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("stress")
@SuppressWarnings("NullAway.Init")
class ServeBenchCommandTest {
    @TempDir
    private Path home;

    @BeforeEach
    void fewPackages() throws IOException {
        FewPackages.write(home.resolve("data/debian-packages"));
        System.setProperty("roost.home", home.toString());
    }

    @AfterEach
    void noHome() {
        System.clearProperty("roost.home");
    }

    @Tag("nightly")
    @Test
    void everyRequestIsAnsweredOrShedUnderAnyLoad() throws IOException {
        CommandRun run = CommandRun.of("bench", "serve", "--seconds", 1, "--rounds", 1, "--load", "0.5,3", "--json");

        assertThat(run.status()).as(run.err()).isZero();
        JsonNode loads = new ObjectMapper().readTree(run.out()).path("loads");
        assertThat(loads).hasSize(2);
        for (JsonNode load : loads) {
            JsonNode point = load.path("rounds").get(0);
            double offered = load.path("timesCapacity").asDouble()
                    * point.path("capacity").asDouble();
            // A product is rounded once more here than where it was written.
            assertThat(point.path("offered").asDouble()).isCloseTo(offered, withinPercentage(1e-9));
            assertThat(point.path("goodput").asDouble()).isPositive();
            assertThat(point.path("otherwise").asDouble()).isZero();
            assertThat(point.path("latencies").path("p99us").asDouble()).isPositive();
        }
    }

    @Tag("nightly")
    @Test
    void theTableHasALineForEachLoad() {
        CommandRun run = CommandRun.of("bench", "serve", "--seconds", 1, "--rounds", 1, "--load", "1");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out().lines()).hasSize(2);
        assertThat(run.out().lines().toList().getLast()).startsWith(" 1.0 ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--load | , | --load must name at least one load, got none",
                "--load | 0 | --load must be above 0 and at most 100, got 0.0",
                "--seconds | 0 | --seconds must be between 1 and 3600, got 0",
                "--rounds | 0 | --rounds must be between 1 and 1000, got 0"
            })
    void whatCannotBeMeasuredIsToldInOneLine(String option, String value, String complaint) {
        assertThat(CommandRun.of("bench", "serve", option, value).err().strip()).isEqualTo("roost: " + complaint);
    }
}
