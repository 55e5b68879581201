package io.github.roost.bench.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.bench.live.LiveLoad.Report;
import io.github.roost.bench.live.LiveLoad.Stretch;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.Effort;
import io.github.roost.testkit.Mixture;
import io.github.roost.topology.Topology;
import io.github.roost.topology.TopologyReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

@Tag("stress")
class LiveLoadTest {
    private static final Topology TWO_WORKERS =
            TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1").read();

    @Test
    void aShortMixedLoadLosesNothingAndKeepsItsRecall() throws Exception {
        List<Stretch> told = new ArrayList<>();
        LiveLoad load = new LiveLoad();
        new CommandLine(load)
                .parseArgs(("--rows 4000 --dimension 16 --clients 3 --ef 64 --seed 5 --stretches 2 --seconds "
                                + Effort.times(1))
                        .split(" "));
        Report report = load.run(TWO_WORKERS, told::add);
        assertThat(report.workers()).isEqualTo(2);
        assertThat(report.violations()).isEmpty();
        assertThat(report.stretches()).isEqualTo(told).hasSize(2).allSatisfy(stretch -> {
            assertThat(stretch.searches()).isEqualTo(9 * stretch.changes()).isPositive();
            assertThat(stretch.looks()).isBetween(stretch.changes(), 2 * stretch.changes());
            assertThat(stretch.recall()).isGreaterThan(stretch.freshRecall() - LiveLoad.MAX_RECALL_LOST);
        });
    }

    /** The checker, on a table that someone else changes behind its back. */
    @Test
    void aClientNoticesWhatIsLostAndWhatIsStillThere() {
        SplittableRandom random = new SplittableRandom(6);
        Mixture mixture = Mixture.of(5, 8, random);
        float[][] rows = mixture.draw(300, random);
        try (Orchestrator orchestrator =
                        Orchestrator.builder().topology(TWO_WORKERS).build();
                LiveTable table = LiveTable.builder().build(orchestrator, 8)) {
            LiveClient client = new LiveClient(table, mixture, 5, 64, 0, 1, random);
            for (int id = 0; id < rows.length; id++) {
                table.put(id, rows[id]);
                client.own(id, rows[id]);
            }
            for (int id = 0; id < 100; id++) {
                table.remove(id);
                table.put(id + 100, rows[id]);
                table.put(id + 1_000_000, rows[id]);
            }
            client.runUntil(System.nanoTime() + Duration.ofSeconds(20).toNanos());
            assertThat(client.violations())
                    .anyMatch(violation -> violation.contains("is lost") || violation.contains("was not there"))
                    .anyMatch(violation -> violation.contains("was found at"))
                    .anyMatch(violation -> violation.contains("after it had been removed"));
        }
    }
}
