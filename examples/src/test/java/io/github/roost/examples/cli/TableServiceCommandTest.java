package io.github.roost.examples.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class TableServiceCommandTest {
    @Test
    void everyBatchIsAnsweredAndOfOneVersion() throws IOException {
        CommandRun run = CommandRun.of("table-service", "--nodes", "3", "--versions", "2", "--rows", "2000", "--json");
        assertThat(run.status()).as(run.err()).isZero();
        JsonNode client = new ObjectMapper().readTree(run.out()).at("/client");
        assertThat(client.at("/batches").asLong()).isPositive();
        assertThat(client.at("/failed").asLong()).isZero();
        assertThat(client.at("/mixed").asLong()).isZero();
        assertThat(client.at("/mostVersions").asInt()).isEqualTo(4);
    }
}
