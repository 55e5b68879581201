package io.github.roost.simulator.orchestration;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.orchestration.Popularities.Curve;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("stress")
class FiguresTest {
    @Test
    void onePageHasAllFiguresBesideThePapersValuesAndSaysWhatMakesThemDiffer() throws Exception {
        Figures.Extent extent = new Figures.Extent(List.of(1, 2), 100, 8, 20, 2, 4);
        Figures.Report report = Figures.report(Parameters.builtIn(), List.of(MatrixTest.regime()), extent, "a command");
        assertThat(report.html())
                .contains("Regime paper", "a command", "Figure 6", "Figures 5, 14, 15, 18, 19: HNSW on genoa")
                .contains("Figures 14, 15: IVF on rome", "Figures 16, 17", "Figure 20", "ideal of v0")
                .contains("paper: V0 10, V1 25, V2 35", "hottest table 10 times the coldest")
                .doesNotContain("<script");
        assertThat(report.lines())
                .anyMatch(line -> line.startsWith("figure 5") && line.contains("82 %"))
                .anyMatch(line -> line.startsWith("figures 14, 15: throughput of V2 over V1") && line.contains("1.4"));
    }

    @Test
    void aSteeperLawMakesTheHottestPartTakeMore() throws Exception {
        Curve even = Popularities.of(MatrixTest.regime().hnsw().with(spec -> spec.withQuerySkew(0)))
                .getFirst();
        Curve steep = Popularities.of(MatrixTest.regime().hnsw().with(spec -> spec.withQuerySkew(2)))
                .getFirst();
        assertThat(share(steep, .05)).isGreaterThan(1.5 * share(even, .05));
        assertThat(share(even, 1)).isEqualTo(1);
    }

    /** The share of accesses of the hottest {@code part} of the nodes or lists. */
    private static double share(Curve curve, double part) {
        int at = Arrays.binarySearch(curve.parts(), part);
        return curve.accesses()[Math.min(curve.accesses().length - 1, at < 0 ? -at - 1 : at)];
    }
}
