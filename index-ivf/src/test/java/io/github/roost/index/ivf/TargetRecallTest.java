package io.github.roost.index.ivf;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.TableClosedException;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.Metric;
import io.github.roost.vector.spi.RecallSample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TargetRecallTest {
    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();
    private final float[][] rows = gaussian(3_000, 12, new Random(1));
    private final float[][] sample = gaussian(60, 12, new Random(2));

    @AfterEach
    void close() {
        orchestrator.close();
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void theFewestListsThatReachTheTarget(Metric metric) {
        IvfTable table = IvfTable.builder().metric(metric).nlist(50).build(orchestrator, rows);
        RecallSample measured = new RecallSample(sample, query -> table.search(query, 10, table.nlist()));
        int before = 0;
        for (double target : new double[] {.3, .6, .9, .95, 1}) {
            int nprobe = table.effortFor(target, 10, sample);
            assertThat(nprobe).isBetween(Math.max(1, before), table.nlist());
            assertThat(recall(measured, table, nprobe)).isGreaterThanOrEqualTo(target);
            if (nprobe > 1) {
                assertThat(recall(measured, table, nprobe - Math.max(1, nprobe / 20)))
                        .isLessThan(target);
            }
            before = nprobe;
        }
        assertThat(recall(measured, table, table.nlist())).isEqualTo(1);
    }

    /** What the build has measured with rows as queries holds for other queries too, nearly. */
    @ParameterizedTest
    @EnumSource(Metric.class)
    void aBuildProbesAsManyListsAsItsTargetTakes(Metric metric) {
        int before = 0;
        for (double target : new double[] {.5, .8, .95, 1}) {
            IvfTable table = IvfTable.builder()
                    .metric(metric)
                    .nlist(50)
                    .targetRecall(target)
                    .build(orchestrator, rows);
            RecallSample measured = new RecallSample(sample, query -> table.search(query, 10, table.nlist()));
            assertThat(recall(measured, table, table.nprobe())).isGreaterThan(target - .05);
            assertThat(recall(measured, table, Math.max(1, table.nprobe() / 2))).isLessThan(target + .05);
            assertThat(table.nprobe()).isGreaterThanOrEqualTo(before);
            before = table.nprobe();
            table.close();
        }
    }

    @Test
    void theDefaultIsATargetAndAGivenNumberOfListsGoesBeforeIt() {
        IvfTable byDefault = IvfTable.builder().name("a").nlist(50).build(orchestrator, rows);
        IvfTable byTarget =
                IvfTable.builder().name("b").nlist(50).targetRecall(.95).build(orchestrator, rows);
        IvfTable given = IvfTable.builder()
                .name("c")
                .nlist(50)
                .nprobe(3)
                .targetRecall(.9)
                .build(orchestrator, rows);
        assertThat(byDefault.nprobe()).isEqualTo(byTarget.nprobe());
        assertThat(given.nprobe()).isEqualTo(3);
        IvfTable ofOneRow = IvfTable.builder().name("d").build(orchestrator, new float[1][5]);
        assertThat(ofOneRow.nprobe()).isEqualTo(1);
        assertThatThrownBy(() -> IvfTable.builder().targetRecall(1.01)).hasMessageContaining("at most 1, got 1.01");
    }

    /** Rows in clusters, of which few lists hold all near rows, are replaced by rows that are spread evenly. */
    @Test
    void aRebuildMeasuresAgainUnlessTheNumberOfListsIsGiven(@TempDir Path folder) throws IOException {
        float[][] centers = gaussian(50, 12, new Random(3));
        float[][] clustered = gaussian(rows.length, 12, new Random(4));
        for (int i = 0; i < rows.length; i++) {
            for (int d = 0; d < 12; d++) {
                clustered[i][d] = 20 * centers[i % 50][d] + .1f * clustered[i][d];
            }
        }
        for (boolean isGiven : new boolean[] {false, true}) {
            IvfTable.Builder builder = IvfTable.builder().nlist(50);
            Path file = folder.resolve("given " + isGiven);
            try (IvfTable table = (isGiven ? builder.nprobe(2) : builder).build(orchestrator, clustered)) {
                assertThat(table.nprobe()).isLessThan(5);
                table.save(file);
                assertRebuildMeasures(table, !isGiven);
            }
            try (IvfTable opened = IvfTable.open(orchestrator, "opened", file)) {
                assertRebuildMeasures(opened, !isGiven);
            }
        }
    }

    private void assertRebuildMeasures(IvfTable table, boolean measures) {
        int before = table.nprobe();
        for (int i = 0; i < rows.length; i++) {
            table.put(i, rows[i]);
        }
        // The first may have begun before the last rows were replaced.
        table.rebuild().join();
        table.rebuild().join();
        if (measures) {
            RecallSample measured = new RecallSample(sample, query -> table.search(query, 10, table.nlist()));
            assertThat(measured.recall(query -> table.search(query, 10))).isGreaterThan(.9);
            assertThat(recall(measured, table, table.nprobe() / 2)).isLessThan(.95);
        } else {
            assertThat(table.nprobe()).isEqualTo(before);
        }
    }

    @Test
    void aSearchFindsWhatItsProbedListsHold() throws Exception {
        IvfTable table = IvfTable.builder().nlist(20).build(orchestrator, rows);
        int[] probed = table.probes(sample[0], 3);
        assertThat(probed).hasSize(3).doesNotHaveDuplicates();
        int held = Arrays.stream(probed).map(table::listSize).sum();
        assertThat(table.search(sample[0], held, 3).get().cost().visited()).isEqualTo(held);
        assertThat(IntStream.range(0, 20).map(table::listSize).sum()).isEqualTo(rows.length);
        assertThatThrownBy(() -> table.listSize(20)).hasMessageContaining("list must be between 0 and 19, got 20");
        assertThatThrownBy(() -> table.probes(sample[0], 21)).hasMessageContaining("got 21");
        table.close();
        assertThatThrownBy(() -> table.probes(sample[0], 3)).isInstanceOf(TableClosedException.class);
    }

    @Test
    void badInputIsNamed() {
        IvfTable table = IvfTable.builder().nlist(5).build(orchestrator, rows);
        assertThatThrownBy(() -> table.effortFor(0, 10, sample)).hasMessageContaining("at most 1, got 0.0");
        assertThatThrownBy(() -> table.effortFor(Double.NaN, 10, sample)).hasMessageContaining("got NaN");
        assertThatThrownBy(() -> table.effortFor(.9, 0, sample)).hasMessageContaining("k must be");
        assertThatThrownBy(() -> table.effortFor(.9, 10, new float[0][])).hasMessageContaining("got none");
        assertThatThrownBy(() -> table.effortFor(.9, 10, new float[][] {{1}}))
                .hasMessageContaining("query 0 must have 12 dimensions, got 1");
    }

    private static double recall(RecallSample measured, IvfTable table, int nprobe) {
        return measured.recall(query -> table.search(query, 10, nprobe));
    }
}
