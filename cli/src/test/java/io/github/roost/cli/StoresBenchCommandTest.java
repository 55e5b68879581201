package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
@Tag("nightly")
class StoresBenchCommandTest {
    private static final String SMALL = "bench stores --made-up --texts 1000 --rounds 2 --slice-millis 20";

    @Test
    void everyStoreHasEveryFigureAndOnlyThoseInMemoryLoseTexts() throws Exception {
        CommandRun run = CommandRun.ofLine(SMALL, "--json");
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        JsonNode figures = new ObjectMapper().readTree(run.out()).get("figures");
        assertThat(figures).allSatisfy(figure -> assertThat(figure).hasSize(6));
        for (String share : List.of("all", "50 %", "10 %", "0.2 %")) {
            assertThat(figures.get("recall, " + share))
                    .allSatisfy(recall -> assertThat(recall.get(0).asDouble()).isGreaterThanOrEqualTo(.99));
        }
        JsonNode lost = figures.get("texts lost by the kill of 50");
        for (String durable : List.of("roost", "lucene", "h2-scan", "sqlite-scan")) {
            assertThat(lost.get(durable))
                    .allSatisfy(texts -> assertThat(texts.asInt()).isZero());
        }
        for (String inMemory : List.of("langchain4j", "spring-ai")) {
            assertThat(lost.get(inMemory))
                    .allSatisfy(texts -> assertThat(texts.asInt()).isEqualTo(50));
        }
    }

    @Test
    void theTableHasARowAMeasure() {
        CommandRun run = CommandRun.ofLine(SMALL, "--queries", "in");
        assertThat(run.complaints()).isEmpty();
        assertThat(run.out())
                .contains(
                        "1,000 texts", "| roost |", "| searches/s, 10 %, threads 2 |", "| open and first search, ms |");
    }
}
