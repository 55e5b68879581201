package io.github.roost.bench.rivals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.simulator.measure.Workload;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Topology;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.w3c.dom.Document;

@Tag("stress")
@Tag("nightly")
class HnswBenchTest {
    private static final Topology ONE_CORE = new Topology(
            "test",
            DomainLevel.L3,
            false,
            List.of(new CacheDomain(0, 0, List.of(0), 0, List.of(new Core(0, -1, List.of(0))))));

    @Test
    void everyEngineFindsNearlyAllAndMoreWithAWiderSearch() throws Exception {
        Workload workload = Workload.mixture(3_000, 40, 16, 20, 1);
        try (Engines bench = new Engines(
                workload,
                ONE_CORE,
                List.of(new Engines.Graph(GraphLayout.FLOAT32), new Engines.Graph(GraphLayout.INT8)),
                List.of(Engines.JVECTOR),
                null,
                EngineSettings.graph(8, 60),
                10,
                null,
                what -> {})) {
            Curves curves = bench.curves(sweep(10, List.of(10, 200)));
            assertThat(curves.curves())
                    .extracting(Curves.Curve::engine)
                    .containsExactly("roost", "roost int8", "jvector");
            for (Curves.Curve curve : curves.curves()) {
                assertThat(curve.points().get(1).recall())
                        .isGreaterThan(.98)
                        .isGreaterThanOrEqualTo(curve.points().get(0).recall());
                assertThat(curve.points())
                        .allSatisfy(
                                point -> assertThat(point.rates()).hasSize(2).allMatch(rate -> rate > 0));
            }
            assertThatThrownBy(() -> bench.curves(sweep(11, List.of(20))))
                    .hasMessageContaining("k must be at most 10, got 11");
        }
    }

    private static Sweep sweep(int k, List<Integer> widths) {
        return new Sweep(k, widths, Sweep.ALL, 2, Duration.ofMillis(5), Duration.ofMillis(20));
    }

    @Test
    void aRateBetweenTwoPointsIsInterpolated() {
        Curves.Curve curve = new Curves.Curve(
                "x",
                Duration.ZERO,
                List.of(
                        new Curves.Point(10, .9, List.of(1_000.0)),
                        new Curves.Point(20, .99, List.of(100.0)),
                        new Curves.Point(30, .99, List.of(80.0))));
        assertThat(curve.rateAt(.9, 0)).isCloseTo(1_000, within(1e-6));
        assertThat(curve.rateAt(.99, 0)).isCloseTo(100, within(1e-6));
        assertThat(curve.rateAt(1 - Math.sqrt(.001), 0)).isCloseTo(Math.sqrt(1e5), within(1e-6));
        assertThat(curve.rateAt(.8, 0)).isNaN();
        assertThat(curve.rateAt(.999, 0)).isNaN();
    }

    @Test
    void thePictureIsXmlThatNamesTheEnginesAndMarksEachPoint() throws Exception {
        List<Curves.Point> points = List.of(
                new Curves.Point(10, .9, List.of(1_000.0, 1_100.0)), new Curves.Point(20, 1, List.of(9.0, 8.0)));
        String svg = new Curves(
                        "w",
                        10,
                        1,
                        List.of(
                                new Curves.Curve("a", Duration.ZERO, points),
                                new Curves.Curve("b", Duration.ZERO, points)))
                .plot()
                .svg();
        Document document = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertThat(document.getDocumentElement().getAttribute("aria-label")).isEqualTo("w, k=10: a, b");
        // Two on the curve of the first engine, one in the legend.
        assertThat(document.getElementsByTagName("circle").getLength()).isEqualTo(3);
        assertThat(svg).doesNotContain("NaN").doesNotContain("Infinity");
    }

    @ParameterizedTest
    @EnumSource(GraphLayout.class)
    void aSearchAllocatesAtMostAKilobyteBeyondItsResult(GraphLayout element) throws Exception {
        Workload workload = Workload.mixture(3_000, 500, 128, 20, 2);
        try (HnswEngine engine =
                new HnswEngine(workload, ONE_CORE, new Engines.Graph(element), EngineSettings.graph(8, 40), null)) {
            int k = 10;
            long result = (long) k * (Long.BYTES + Float.BYTES) + 3 * 24;
            assertThat(engine.allocatedBytes(k, 100)).isLessThanOrEqualTo(result + 1_024);
        }
    }
}
