package io.github.roost.bench.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.scheduling.CallerThreads.Index;
import io.github.roost.bench.scheduling.CallerThreads.Kind;
import io.github.roost.bench.scheduling.CallerThreads.Outcome;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Smoke test: the benchmark runs with both kinds of threads and both indexes. */
@SuppressWarnings("NullAway.Init")
@Tag("stress")
@Tag("nightly")
class CallerThreadsSmokeTest {
    private static CallerThreads bench;

    @BeforeAll
    static void build() {
        Topology twoWorkers =
                TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();
        bench = new CallerThreads(twoWorkers, 1_000);
    }

    @AfterAll
    static void close() {
        bench.close();
    }

    @ParameterizedTest
    @EnumSource
    void bothKindsOfThreadsSearchInEveryRound(Index index) throws Exception {
        Map<Kind, Outcome> outcomes = bench.run(index, 2, Duration.ofMillis(20));

        assertThat(outcomes).containsOnlyKeys(Kind.values());
        assertThat(outcomes.values()).allSatisfy(outcome -> {
            assertThat(outcome.perSecond()).hasSize(2).allMatch(rate -> rate > 0);
            assertThat(outcome.searches()).isPositive();
            assertThat(outcome.collections()).isNotNegative();
            assertThat(outcome.offHeapBytesPerSearch()).isNotNegative();
        });
    }
}
