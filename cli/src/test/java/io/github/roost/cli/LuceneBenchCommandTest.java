package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
@Tag("nightly")
class LuceneBenchCommandTest {
    @BeforeEach
    void setHome() {
        System.setProperty(
                "roost.home", Path.of("..").toAbsolutePath().normalize().toString());
    }

    @AfterEach
    void clearHome() {
        System.clearProperty("roost.home");
    }

    @Test
    void jsonHoldsEveryFigureOfEveryContender() throws Exception {
        CommandRun run = CommandRun.of(
                (Object[]) ("bench lucene --sections 1 --segments 2 --clients 3 --rounds 1 --slice-millis 20"
                                + " --workload words,fused --json")
                        .split(" "));
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode root = new ObjectMapper().readTree(run.out());
        assertThat(root.get("packages").asInt()).isEqualTo(6_711);
        assertThat(root.get("outcomes")).hasSize(2 * 6).allSatisfy(outcome -> {
            assertThat(outcome.get("perSecond").get(0).asDouble()).isPositive();
            assertThat(outcome.get("p99us").get(0).asDouble())
                    .isGreaterThanOrEqualTo(outcome.get("p50us").get(0).asDouble());
        });
        assertThat(root.at("/outcomes/4/contender").asText()).isEqualTo("ROOST");
    }
}
