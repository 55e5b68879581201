package io.github.roost.bench.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.hnsw.BuildBench.Round;
import io.github.roost.bench.hnsw.FilterBench.Allowed;
import io.github.roost.bench.hnsw.FilterBench.Outcome;
import io.github.roost.core.Orchestrator;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Smoke test: the benchmarks of a build beside searches and of filters run to their end, on small tables. */
@Tag("stress")
@Tag("nightly")
class BesideSmokeTest {
    private static final Topology TWO_WORKERS =
            TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();

    @Test
    void aBuildAndSearchesRunBesideEachOther() throws Exception {
        BuildBench bench = new BuildBench();
        new CommandLine(bench)
                .parseArgs("--tables 2 --rows 500 --built-rows 500 --dimension 8 --load 10 --seed 1 --window-millis 200"
                        .split(" "));
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(TWO_WORKERS).build()) {
            bench.start(orchestrator);
            Round round = bench.round(0);
            assertThat(round.alone().count()).isPositive();
            assertThat(round.beside().count()).isEqualTo(round.alone().count());
            assertThat(round.collecting()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
            assertThat(round.compiling()).isBetween(Duration.ZERO, Duration.ofSeconds(100));
            assertThat(round.roost()).isPositive();
            assertThat(round.jvector()).isPositive();
            assertThat(round.hnswlib()).isNull();
            assertThat(round.hnswlibRatio()).isNaN();
            assertThat(round.oneComputes().share()).isBetween(0.0, 1.0);
            assertThat(round.allCompute().counted())
                    .isGreaterThanOrEqualTo(
                            round.oneComputes().counted().multipliedBy(3).dividedBy(2));
        }
    }

    @Test
    void filteredSearchesFindWhatTheyAreAllowedTo() throws Exception {
        FilterBench bench = new FilterBench();
        new CommandLine(bench).parseArgs("--rows 10000 --dimension 8 --queries 50 --ef 20 --seed 2".split(" "));
        try (Orchestrator orchestrator =
                Orchestrator.builder().topology(TWO_WORKERS).build()) {
            bench.build(orchestrator);
            for (Outcome narrow : bench.measure(Allowed.CLUSTERS, .001)) {
                assertThat(narrow.recall()).isEqualTo(1);
                assertThat(narrow.visited()).isBetween(1.0, 100.0);
            }
            for (Outcome half : bench.measure(Allowed.EVERYWHERE, .5)) {
                assertThat(half.recall()).isGreaterThan(.9);
            }
        }
    }
}
