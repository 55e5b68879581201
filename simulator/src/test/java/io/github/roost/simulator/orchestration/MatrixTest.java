package io.github.roost.simulator.orchestration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.orchestration.Cell.Standing;
import io.github.roost.simulator.workload.WorkloadSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
class MatrixTest {
    private static final Parameters PARAMETERS = Parameters.builtIn();

    /** A few tables of four copies each, whose searches visit nodes, or scan lists, drawn at random. */
    static Regime regime() throws IOException {
        return new Regime("paper", traces("paper-hnsw", false), traces("paper-ivf", true));
    }

    private static Traces traces(String workload, boolean lists) throws IOException {
        WorkloadSpec spec = WorkloadSpec.load(workload).withRecorded(400, 6);
        SplittableRandom random = new SplittableRandom(7);
        List<Traces.Table> tables = new ArrayList<>();
        for (int table = 0; table < 4; table++) {
            int[] listRows = lists ? random.ints(10, 20, 60).toArray() : new int[0];
            int[][] visits = new int[spec.targets()][];
            for (int target = 0; target < visits.length; target++) {
                visits[target] = lists
                        ? random.ints(0, 10).distinct().limit(3).toArray()
                        : random.ints(0, 400).distinct().limit(60).toArray();
            }
            tables.add(new Traces.Table("t" + table, 512, 400, 4, 20, 20, listRows, visits));
        }
        return new Traces(spec, tables);
    }

    private static List<Cell> cells() throws Exception {
        Matrix.Extent extent = new Matrix.Extent(
                List.of(new Matrix.Place("genoa", 2), new Matrix.Place("genoa-2s", 1)),
                List.of(Regime.Kind.values()),
                List.of(.5),
                List.of(false, true),
                200,
                1);
        return new Matrix(PARAMETERS, List.of(regime()), extent).run(group -> {});
    }

    @Test
    void everyCellHasEveryPolicyAndTheSameMatrixIsTheSame() throws Exception {
        List<Cell> cells = cells();
        assertThat(cells).hasSize(2 * 3 * 2 * 2).allSatisfy(cell -> {
            assertThat(cell.results())
                    .extracting(SimResult::policy)
                    .containsExactly("v0", "v1", "v2", "v2-gated", "roost");
            assertThat(cell.results())
                    .allSatisfy(result -> assertThat(result.searches()).isEqualTo(200));
            assertThat(cell.domains()).isEqualTo(2);
        });
        assertThat(cells()).isEqualTo(cells);
    }

    @Test
    void anOpenLoopHasTheShareOfV1sCapacityThatItIsNamedAfter() throws Exception {
        List<Cell> cells = cells();
        Cell saturated = cells.getFirst();
        Cell open = cells.get(1);
        assertThat(saturated.rate()).isZero();
        assertThat(open.rate()).isEqualTo(.5);
        assertThat(open.result("v1").perSecond() / saturated.result("v1").perSecond())
                .isBetween(.35, .65);
    }

    @Test
    void theWorstStandsFirstAndLatenciesAreTurnedRound() throws Exception {
        List<Cell> cells = cells();
        MatrixReport report = new MatrixReport(cells);
        List<Standing> standings = report.worstFirst();
        assertThat(standings)
                .hasSize(2 * 3 * 2 * (1 + 2))
                .isSortedAccordingTo((a, b) -> Double.compare(
                        a.ratio() / a.measure().bar(), b.ratio() / b.measure().bar()));
        for (Standing standing : standings) {
            double rival;
            double ours;
            if (standing.measure() == Cell.Measure.THROUGHPUT) {
                rival = Cell.RIVALS.stream()
                        .mapToDouble(name -> standing.cell().result(name).perSecond())
                        .max()
                        .orElseThrow();
                ours = standing.cell().result("roost").perSecond();
                assertThat(standing.ratio()).isEqualTo(ours / rival);
            } else if (standing.measure() == Cell.Measure.P999) {
                rival = Cell.RIVALS.stream()
                        .mapToDouble(
                                name -> standing.cell().result(name).latencies().p999us())
                        .min()
                        .orElseThrow();
                ours = standing.cell().result("roost").latencies().p999us();
                assertThat(standing.ratio()).isCloseTo(rival / ours, within(1e-9));
            }
        }
        List<String> lines = new ArrayList<>();
        report.print(lines::add, 3);
        assertThat(lines).anyMatch(line -> line.startsWith("throughput: "));
        assertThat(lines.get(2)).startsWith(standings.getFirst().cell().machine());
        JsonNode json = new JsonMapper().readTree(report.json());
        assertThat(json.get("cells")).hasSize(cells.size());
        assertThat(json.get("worstFirst").get(0).get("ratio").asDouble())
                .isEqualTo(standings.getFirst().ratio());
    }
}
