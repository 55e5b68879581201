package io.github.roost.bench.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.rivals.Curves;
import io.github.roost.bench.rivals.Sweep;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FilteredPeersTest {
    @Test
    void everyWayToSearchFindsAllowedRowsAndNoDeletedOne() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        Mixture mixture = Mixture.of(5, 8, random);
        float[][] rows = mixture.draw(600, random);
        BitSet even = new BitSet();
        IntStream.range(0, 300).forEach(half -> even.set(2 * half));
        Sweep sweep = new Sweep(10, List.of(10, 400), Sweep.ALL, 1, Duration.ofMillis(1), Duration.ZERO);
        try (Orchestrator orchestrator = Orchestrator.builder()
                        .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1")
                                .read())
                        .build();
                LiveTable live = LiveTable.builder()
                        .build(orchestrator, LongStream.range(0, rows.length).toArray(), rows);
                FilteredPeers peers =
                        new FilteredPeers(live, rows, mixture.draw(20, random), 3, Map.of("even", even))) {
            List<Curves.Curve> curves = peers.measure("even", even, sweep).curves();

            assertThat(curves).hasSize(4).allSatisfy(curve -> {
                assertThat(curve.points().getLast().recall()).isGreaterThan(.99);
                assertThat(curve.points().getLast().rates()).hasSize(1);
            });
            assertThat(curves.getLast().points().getFirst().recall())
                    .as("of 10 rows, about half are allowed")
                    .isBetween(.2, .9);
        }
    }
}
