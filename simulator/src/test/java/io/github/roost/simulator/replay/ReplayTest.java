package io.github.roost.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.Policy;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.replay.Replay.Outcome;
import io.github.roost.simulator.workload.TableSpec;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.SearchResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("stress")
class ReplayTest {
    private static final Topology TWO_DOMAINS =
            TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();

    private static final Topology SMALL_CACHES =
            TopologyReader.synthetic("pack:1 l3:2(size=1MiB) core:1 pu:1").read();

    private static WorkloadSpec small(String index) throws IOException {
        WorkloadSpec built = WorkloadSpec.load(index);
        return new WorkloadSpec(
                index,
                built.index(),
                built.data(),
                4,
                2,
                List.of(16, 32),
                10,
                20,
                .5,
                0,
                0,
                10,
                20,
                4,
                100,
                20,
                4,
                0,
                7,
                built.popularity(),
                null);
    }

    private static Replay replay(WorkloadSpec spec, List<String> names) throws IOException {
        return replay(spec, names, TWO_DOMAINS);
    }

    private static Replay replay(WorkloadSpec spec, List<String> names, Topology topology) throws IOException {
        return new Replay(spec, TableSpec.generated(spec), topology, names, line -> {});
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void everySchedulingFindsTheNeighborsAndIsPredicted(String index) throws Exception {
        List<String> schedulings = Replay.SCHEDULINGS;
        try (Replay replay = replay(small(index), schedulings)) {
            List<Outcome> outcomes = replay.run(2, Duration.ofMillis(150), line -> {});
            assertThat(outcomes).extracting(Outcome::name).isEqualTo(schedulings);
            assertThat(outcomes).allSatisfy(outcome -> {
                assertThat(outcome.recall()).isGreaterThan(.9);
                assertThat(outcome.rates()).hasSize(2).allMatch(rate -> rate > 0);
                assertThat(outcome.latencies().count()).isPositive();
                assertThat(outcome.cpuMicros()).isPositive();
            });
            assertThat(outcomes.getFirst().ratios()).containsOnly(1.0);
            assertThat(outcomes.getFirst().scheduled().intraSteals()).isZero();
            assertThat(replay.predict(Parameters.builtIn(), "here", DomainLevel.L2, schedulings, 0, 200))
                    .extracting(SimResult::policy)
                    .isEqualTo(schedulings);
        }
    }

    @Tag("nightly")
    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void anOpenLoopAndThePoolsOfTheJdkTakePart(String index) throws Exception {
        try (Replay replay = replay(small(index), List.of("v2", "forkjoin", "fixed"))) {
            replay.warmUp(line -> {});
            assertThat(replay.runOpen(500, 1, Duration.ofMillis(200), line -> {}))
                    .allSatisfy(outcome -> {
                        assertThat(outcome.recall()).isGreaterThan(.9);
                        assertThat(outcome.late().count())
                                .isEqualTo(outcome.latencies().count());
                        assertThat(outcome.late().p50us())
                                .isLessThanOrEqualTo(outcome.latencies().p50us());
                    });
            assertThat(replay.predict(Parameters.builtIn(), "here", DomainLevel.L2, List.of("v2", "roost"), 500, 100))
                    .allSatisfy(predicted -> assertThat(predicted.perSecond()).isBetween(250.0, 1_000.0));
        }
    }

    @Test
    void largeTablesArePlacedByRegionWhereThatIsAskedFor() throws Exception {
        WorkloadSpec one = small("hnsw").withTables(1).withBudgetMib(4);
        try (ReplayTables tables = new ReplayTables(one, TableSpec.generated(one), SMALL_CACHES, built -> {})) {
            tables.openForSearchFunctions();
            for (boolean inRegions : new boolean[] {false, true}) {
                try (OrchestratorContender contender = new OrchestratorContender(
                        "roost",
                        SchedulingPolicy.HOME_DOMAIN,
                        Policy.ROOST_RULE,
                        GroupRule.DEFAULT,
                        inRegions,
                        SMALL_CACHES,
                        tables)) {
                    long ids = IntStream.range(0, one.targets())
                            .mapToObj(target -> contender.mappingId(0, tables.target(0, target)))
                            .distinct()
                            .count();
                    assertThat(ids > 1).isEqualTo(inRegions);
                    assertThat(tables.recall(0, 0, contender.search(0, 0).join()))
                            .isGreaterThan(.9);
                }
            }
        }
    }

    @Test
    void thePaperSharesNoScansInPredictionsAndRoostDoes() {
        assertThat(Policy.parse("v0,v1,v2,v2-gated"))
                .map(Policy::undivided)
                .extracting(Policy::groups)
                .containsOnlyNulls();
        assertThat(Policy.parse("roost-undivided,roost"))
                .map(Policy::undivided)
                .extracting(Policy::groups)
                .containsOnly(GroupRule.DEFAULT);
    }

    @Test
    void whatCannotTakePartIsNamed() {
        assertThatThrownBy(() -> replay(small("hnsw"), List.of("v9"))).hasMessageContaining("got v9");
    }

    @Test
    void aDifferenceWithinTheNoiseNamesNoWinner() {
        assertThat(outcome(List.of(.9, 1.3, 1.0, 1.2)).verdict()).contains("the noise exceeds the difference");
        assertThat(outcome(List.of(1.19, 1.21, 1.2, 1.2)).verdict())
                .startsWith("1.200 +- 0.0")
                .doesNotContain("noise");
        assertThat(outcome(List.of(3.0)).verdict()).contains("the noise exceeds the difference");
    }

    private static Outcome outcome(List<Double> ratios) {
        return new Outcome(
                "v2",
                ratios,
                new Latencies(1, 0, 0, 0, 0),
                new Latencies(0, 0, 0, 0, 0),
                ratios,
                new Replay.Steps(0, 0, 0, 0),
                10,
                1);
    }

    @Test
    void oneAtATimeBeginsTheNextSearchWhenTheLastIsDone() {
        List<CompletableFuture<SearchResult>> begun = new ArrayList<>();
        try (ReplayContender one = new SerialContender(new Recorded(begun))) {
            CompletableFuture<SearchResult> first = one.search(0, 0);
            CompletableFuture<SearchResult> second = one.search(1, 0);
            assertThat(begun).hasSize(1);
            begun.getFirst().complete(SearchResult.EMPTY);
            assertThat(first).isDone();
            assertThat(second).isNotDone();
            assertThat(begun).hasSize(2);
            begun.getLast().completeExceptionally(new IllegalStateException("lost"));
            assertThat(second).isCompletedExceptionally();
            var _ = one.search(2, 0);
            assertThat(begun).hasSize(3);
        }
    }

    private record Recorded(List<CompletableFuture<SearchResult>> begun) implements ReplayContender {
        @Override
        public String name() {
            return "recorded";
        }

        @Override
        public CompletableFuture<SearchResult> search(int table, int target) {
            begun.add(new CompletableFuture<>());
            return begun.getLast();
        }

        @Override
        public Scheduled scheduled() {
            return Scheduled.NOTHING;
        }

        @Override
        public void close() {}
    }
}
