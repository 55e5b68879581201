package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
@Tag("nightly")
class FormatBenchSmokeTest {
    @Test
    void everyFormatIsWrittenAndSearchedAtTheRecall() {
        CommandRun run = CommandRun.of((Object[])
                ("bench lucene-formats --rows 2000 --dimension 16 --segments 2 --merge --recall .90 --threads 2"
                                + " --rounds 1 --slice-millis 20")
                        .split(" "));
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out()).contains("2,000 x 16 in 1 segments, 2 threads, 1 rounds");
        for (String format : List.of("roost", "lucene_hnsw", "roost_reader", "lucene_int8", "lucene_binary")) {
            assertThat(run.out()).containsPattern("indexing +" + format + " ");
        }
        assertThat(run.out()).containsPattern("at 0?\\.90 +roost .* searches/s");
    }

    @Test
    void documentsAreIndexedAndRefreshed() {
        CommandRun run = CommandRun.of((Object[])
                "bench refresh --data mixture --documents 500 --per-second 1000 --seconds 1 --rounds 1".split(" "));
        assertThat(run.complaints()).isEmpty();
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("500 documents, 1,000/s")
                .containsPattern("roost +1 refreshes, ms: P50")
                .contains("500 documents at once, s: roost ");
    }
}
