package io.github.roost.simulator.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.github.roost.simulator.plot.Axis.Scale;
import io.github.roost.simulator.plot.Series.Drawing;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.w3c.dom.Document;

class PlotTest {
    private static final Plot PLOT = new Plot(
            "a < b & \"c\"",
            Axis.linear("domains"),
            Axis.fromZero("searches/s"),
            List.of(
                    Series.marked("one", 0, List.of(Series.Point.of(1, 10), Series.Point.of(2, 20))),
                    Series.marked("two", 1, List.of(new Series.Point(1, 11, 2), new Series.Point(2, 21, 3)))));

    private static Document parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aFileOfItsOwnScalesNamesItsCurvesAndBringsItsColors() throws Exception {
        Document document = parsed(PLOT.svg());

        assertThat(document.getDocumentElement().getAttribute("viewBox")).startsWith("0 0 ");
        assertThat(document.getDocumentElement().hasAttribute("width")).isFalse();
        assertThat(document.getDocumentElement().getAttribute("aria-label")).isEqualTo("a < b & \"c\": one, two");
        assertThat(PLOT.svg()).contains("prefers-color-scheme: dark", "--series-1:");
    }

    @Test
    void everyColorIsAVariableSoThatDarkIsDark() {
        String drawn = PLOT.inlineSvg("p");

        assertThat(drawn).contains("var(--ink)", "var(--grid)", "var(--series-0)", "var(--series-1)");
        // Black is left for what is not seen at all.
        assertThat(Pattern.compile("rgb\\((?!0,0,0\\))").matcher(drawn).find()).isFalse();
    }

    @Test
    void plotsOfOnePageShareNoIds() {
        assertThat(ids(PLOT.inlineSvg("first")))
                .isNotEmpty()
                .doesNotContainAnyElementsOf(ids(PLOT.inlineSvg("second")));
    }

    private static List<String> ids(String svg) {
        return Pattern.compile(" id=\"([^\"]*)\"")
                .matcher(svg)
                .results()
                .map(id -> id.group(1))
                .toList();
    }

    @Test
    void marksAloneAreNotJoined() {
        List<Series.Point> points =
                IntStream.range(0, 5).mapToObj(x -> Series.Point.of(x, x)).toList();
        Plot joined = new Plot("t", Axis.linear("x"), Axis.linear("y"), List.of(Series.marked("s", 0, points)));
        Plot alone =
                new Plot("t", Axis.linear("x"), Axis.linear("y"), List.of(new Series("s", 0, points, Drawing.MARKS)));

        assertThat(lines(joined) - lines(alone)).isEqualTo(4);
    }

    private static int lines(Plot plot) {
        return plot.svg().split("<line", -1).length - 1;
    }

    /** Ticks with equal texts make XChart look for others without end. */
    @ParameterizedTest
    @EnumSource(Scale.class)
    void valuesThatAreAllAlikeOrAllButAreDrawn(Scale scale) {
        List<Series> alike = List.of(
                Series.marked("zero", 0, List.of(Series.Point.of(1, 0), Series.Point.of(1, 0))),
                Series.marked("tiny", 1, List.of(Series.Point.of(1, 1e-9), Series.Point.of(.9999999, 3e-9))),
                Series.marked("near", 2, List.of(Series.Point.of(1, 1), new Series.Point(.999, 1.0000001, 2))));
        for (Series series : alike) {
            assertTimeoutPreemptively(
                    Duration.ofSeconds(20),
                    () -> parsed(new Plot("t", new Axis("x", scale), new Axis("y", scale), List.of(series)).svg()));
        }
    }

    @Test
    void aPlotOfNothingIsRefused() {
        assertThatThrownBy(() -> new Plot("t", Axis.linear("x"), Axis.linear("y"), List.of()))
                .hasMessage("a plot must have at least one series, got none: t");
    }
}
