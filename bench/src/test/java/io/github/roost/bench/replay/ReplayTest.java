package io.github.roost.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.bench.replay.Replay.Outcome;
import io.github.roost.bench.sim.Parameters;
import io.github.roost.bench.sim.SimResult;
import io.github.roost.bench.workload.TableSpec;
import io.github.roost.bench.workload.WorkloadSpec;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayTest {
    private static final Topology TWO_DOMAINS =
            TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read();

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
                7);
    }

    private static Replay replay(WorkloadSpec spec, List<String> names) throws IOException {
        return new Replay(spec, TableSpec.generated(spec), TWO_DOMAINS, names, line -> {});
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf"})
    void everySchedulingFindsTheNeighborsAndIsPredicted(String index) throws Exception {
        List<String> schedulings = List.of("v0", "v1", "v2");
        try (Replay replay = replay(small(index), schedulings)) {
            List<Outcome> outcomes = replay.run(2, Duration.ofMillis(150), line -> {});
            assertThat(outcomes).extracting(Outcome::name).isEqualTo(schedulings);
            assertThat(outcomes).allSatisfy(outcome -> {
                assertThat(outcome.recall()).isGreaterThan(.9);
                assertThat(outcome.rates()).hasSize(2).allMatch(rate -> rate > 0);
                assertThat(outcome.latencies().count()).isPositive();
            });
            assertThat(outcomes.getFirst().ratios()).containsOnly(1.0);
            assertThat(outcomes.getFirst().scheduled().intraSteals()).isZero();
            assertThat(replay.predict(Parameters.builtIn(), "here", DomainLevel.L2, schedulings, 200))
                    .extracting(SimResult::policy)
                    .isEqualTo(schedulings);
        }
    }

    @Test
    void anOpenLoopAndThePoolsOfTheJdkTakePart() throws Exception {
        try (Replay replay = replay(small("hnsw").withLoad(4, 500), List.of("v2", "forkjoin", "fixed"))) {
            assertThat(replay.run(1, Duration.ofMillis(200), line -> {}))
                    .allSatisfy(outcome -> assertThat(outcome.recall()).isGreaterThan(.9));
        }
    }

    @Test
    void whatCannotTakePartIsNamed() {
        assertThatThrownBy(() -> replay(small("hnsw"), List.of("v9"))).hasMessageContaining("got v9");
        assertThatThrownBy(() -> replay(small("ivf"), List.of("v0", "forkjoin")))
                .hasMessageContaining("got an IVF one");
    }
}
