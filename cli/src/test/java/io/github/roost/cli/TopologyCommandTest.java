package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TopologyCommandTest {
    private static final String GENOA = "pack:1 l3:12(size=33554432) core:8 pu:1";

    @BeforeAll
    static void needsHwloc() {
        assumeTrue(
                CommandRun.of("topology", "--synthetic", GENOA).status() == 0,
                "hwloc is missing: the other tests show what becomes of that");
    }

    @Test
    void aSyntheticMachineIsPrintedAsOneJsonObject() throws IOException {
        CommandRun run = CommandRun.of("topology", "--synthetic", GENOA, "--json");

        JsonNode machine = new ObjectMapper().readTree(run.out());
        assertThat(run.err()).isEmpty();
        assertThat(machine.get("level").asText()).isEqualTo("L3");
        assertThat(machine.get("domains")).hasSize(12).allSatisfy(domain -> {
            assertThat(domain.get("cacheBytes").asLong()).isEqualTo(33_554_432);
            assertThat(domain.get("cores")).hasSize(8);
        });
    }

    @Test
    void theLevelCanBeForced() throws IOException {
        CommandRun run =
                CommandRun.of("topology", "--synthetic", "pack:1 l3:1 l2:2 core:2 pu:1", "--level", "l2", "--json");

        assertThat(new ObjectMapper().readTree(run.out()).get("domains")).hasSize(2);
    }

    @Test
    void thisMachineIsPrintedAsText() {
        CommandRun run = CommandRun.of("topology");

        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("live").containsIgnoringCase("domain 0").contains("PU");
    }
}
