package io.github.roost.examples.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchCommandTest {
    @ParameterizedTest
    @CsvSource({
        "bench gate --rounds 0, --rounds must be between 1 and 10000",
        "bench remap --ids 200000, --ids must be between 1 and 131000",
        "bench remap --level X, --level",
        "bench locality --table-kib 0, --table-kib must be between 1 and 1000000",
        "bench scheduling --submitters 0, --submitters must be between 1 and 1024",
        "bench scheduling --task-micros -1, --task-micros must be between 0 and 100000",
        "bench ivf --nlist 4 --nprobe 5 --peer none, --nprobe must be between 1 and 4",
        "bench ivf --k 0 --peer none, --k must be between 1 and 10000",
        "bench lucene --clients 0, --clients must be between 1 and 4096",
        "bench lucene --workload x, --workload",
        "soak --seconds 0, --seconds must be between 1 and 1000000",
        "bench, no benchmark given",
    })
    void badOptionsAreNamedBeforeAnythingRuns(String line, String message) {
        CommandRun run = CommandRun.of((Object[]) line.split(" "));
        assertThat(run.status()).isNotZero();
        assertThat(run.err()).contains(message).doesNotContain("\tat ");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void aShortSoakSaysThatNothingWasLost() {
        CommandRun run = CommandRun.of("soak", "--seconds", "1", "--seed", "7");
        assertThat(run.status()).isZero();
        assertThat(run.out())
                .contains("seed 7", "96 workers")
                .containsOnlyOnce("96 workers")
                .contains("nothing lost");
    }
}
