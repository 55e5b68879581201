package io.github.roost.simulator.plot;

import io.github.roost.simulator.plot.Axis.Scale;
import io.github.roost.simulator.plot.Series.Drawing;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGIDGenerator;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.XYSeries.XYSeriesRenderStyle;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.w3c.dom.Document;

/**
 * A plot of curves over two axes, drawn by XChart as SVG. The size suits a phone; it scales on larger screens. Curves differ in color, marker and
 * line style, so that each of these alone is enough. Immutable and thread-safe.
 *
 * @param title of the plot
 * @param across the horizontal axis
 * @param up the vertical axis
 * @param series at least one, in the order of the legend
 */
public record Plot(String title, Axis across, Axis up, List<Series> series) {
    private static final int WIDTH = 460;
    private static final int HEIGHT = 360;
    private static final String SVG = "http://www.w3.org/2000/svg";
    private static final Color CLEAR = new Color(0, 0, 0, 0);
    private static final List<Marker> MARKS = List.of(
            SeriesMarkers.CIRCLE,
            SeriesMarkers.SQUARE,
            SeriesMarkers.TRIANGLE_UP,
            SeriesMarkers.DIAMOND,
            SeriesMarkers.TRIANGLE_DOWN,
            SeriesMarkers.CROSS,
            SeriesMarkers.PLUS);
    private static final List<BasicStroke> LINES =
            List.of(SeriesLines.DASH_DASH, SeriesLines.SOLID, SeriesLines.SOLID, SeriesLines.DASH_DOT);

    public Plot {
        series = List.copyOf(series);
        if (series.isEmpty()) {
            throw new IllegalArgumentException("a plot must have at least one series, got none: " + title);
        }
    }

    /** The CSS rules for {@link #inlineSvg} on a page, light or dark; the page can use {@code --paper} and {@code --ink} too. */
    public static String css() {
        return Palette.css();
    }

    /** A standalone SVG file, which includes its CSS. */
    public String svg() {
        String style = "<style>%s svg { background: var(--paper) }</style>".formatted(css());
        String drawn = drawn("plot");
        int body = drawn.indexOf('>') + 1;
        return drawn.substring(0, body) + style + drawn.substring(body) + "\n";
    }

    /**
     * An SVG element for a page that includes the rules of {@link #css}.
     *
     * @param id of the plot, unique on the page
     */
    public String inlineSvg(String id) {
        return drawn(id);
    }

    private String drawn(String id) {
        SVGGeneratorContext context = SVGGeneratorContext.createDefault(document());
        context.setComment("");
        context.setPrecision(1);
        context.setIDGenerator(new SVGIDGenerator() {
            @Override
            public String generateID(String prefix) {
                return id + "-" + super.generateID(prefix);
            }
        });
        SVGGraphics2D graphics = new SVGGraphics2D(context, false);
        chart().paint(graphics, WIDTH, HEIGHT);
        StringWriter text = new StringWriter();
        try {
            graphics.stream(text, true, false);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        String whole = text.toString();
        String inner = whole.substring(whole.indexOf('>', whole.indexOf("<svg")) + 1)
                .replace("\"genericDefs\"", "\"%s-genericDefs\"".formatted(id));
        String root = "<svg xmlns=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">"
                .formatted(SVG, WIDTH, HEIGHT, escaped(inWords()));
        return Palette.withVariables(root + inner).strip();
    }

    private String inWords() {
        return title + ": "
                + String.join(", ", series.stream().map(Series::name).toList());
    }

    private static Document document() {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .getDOMImplementation()
                    .createDocument(SVG, "svg", null);
        } catch (ParserConfigurationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private XYChart chart() {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(across.label())
                .yAxisTitle(up.label())
                .build();
        style(chart.getStyler());
        series.forEach(added -> add(chart, added));
        return chart;
    }

    private void style(XYStyler styler) {
        Font small = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
        styler.setLocale(Locale.ROOT);
        styler.setChartBackgroundColor(CLEAR);
        styler.setPlotBackgroundColor(CLEAR);
        styler.setPlotBorderColor(Palette.grid());
        styler.setPlotGridLinesColor(Palette.grid());
        styler.setPlotGridLinesStroke(new BasicStroke(.5f));
        styler.setPlotGridVerticalLinesVisible(false);
        styler.setChartFontColor(Palette.ink());
        styler.setAxisTickLabelsColor(Palette.ink());
        styler.setAxisTickMarksColor(Palette.grid());
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 13));
        styler.setAxisTitleFont(small);
        styler.setAxisTickLabelsFont(small);
        styler.setLegendFont(small);
        styler.setLegendBackgroundColor(CLEAR);
        styler.setLegendBorderColor(CLEAR);
        styler.setLegendPosition(LegendPosition.OutsideS);
        styler.setLegendLayout(LegendLayout.Horizontal);
        styler.setLegendSeriesLineLength(20);
        styler.setLegendPadding(4);
        styler.setLegendVisible(series.size() > 1);
        styler.setErrorBarsColorSeriesColor(true);
        styler.setMarkerSize(7);
        styler.setXAxisTickMarkSpacingHint(60);
        styler.setXAxisLogarithmic(across.scale() == Scale.LOGARITHMIC);
        styler.setYAxisLogarithmic(up.scale() == Scale.LOGARITHMIC);
        if (across.scale() == Scale.FROM_ZERO) {
            styler.setXAxisMin(0.0);
        }
        if (up.scale() == Scale.FROM_ZERO) {
            styler.setYAxisMin(0.0);
        }
        styleTicks(styler);
    }

    /** XChart loses the logarithmic scale of an axis if its tick labels are formatted by a function. */
    private void styleTicks(XYStyler styler) {
        styler.setXAxisDecimalPattern("#,###.###");
        styler.setYAxisDecimalPattern("#,###.###");
        if (across.scale() == Scale.MISSING) {
            styler.setxAxisTickLabelsFormattingFunction(Plot::share);
        } else if (across.scale() != Scale.LOGARITHMIC) {
            styler.setxAxisTickLabelsFormattingFunction(Plot::tick);
        }
        if (up.scale() != Scale.LOGARITHMIC) {
            styler.setyAxisTickLabelsFormattingFunction(Plot::tick);
        }
    }

    private void add(XYChart chart, Series whole) {
        Series added = up.scale() == Scale.LOGARITHMIC ? whole.positive() : whole;
        if (added.points().isEmpty()) {
            return;
        }
        double[] xs = added.xs();
        if (added.drawing() == Drawing.LINE) {
            // For evenly spaced values XChart puts ticks at every n-th value, which gives odd numbers.
            xs[0] += (xs[xs.length - 1] - xs[0]) * 1e-4;
        }
        if (across.scale() == Scale.MISSING) {
            for (int i = 0; i < xs.length; i++) {
                xs[i] = -Math.log10(Math.max(1 - xs[i], 1e-5));
            }
        }
        XYSeries drawn = added.hasSpreads()
                ? chart.addSeries(added.name(), xs, added.ys(), added.spreads())
                : chart.addSeries(added.name(), xs, added.ys());
        Color color = Palette.series(added.look());
        drawn.setLineColor(color);
        drawn.setMarkerColor(color);
        drawn.setLineWidth(1.8f);
        drawn.setMarker(added.drawing() == Drawing.LINE ? SeriesMarkers.NONE : MARKS.get(added.look() % MARKS.size()));
        drawn.setLineStyle(
                added.drawing() == Drawing.LINE ? SeriesLines.SOLID : LINES.get(added.look() % LINES.size()));
        drawn.setXYSeriesRenderStyle(
                added.drawing() == Drawing.MARKS ? XYSeriesRenderStyle.Scatter : XYSeriesRenderStyle.Line);
    }

    /** A number in short form: 1.5M, 20k, 0.25. Different ticks must have different labels, or XChart searches for ticks endlessly. */
    private static String tick(double value) {
        double size = Math.abs(value);
        if (size >= 1e6) {
            return digits(value / 1e6, 8) + "M";
        }
        if (size >= 1e3) {
            return digits(value / 1e3, 8) + "k";
        }
        return digits(value, 8);
    }

    /** The share at a position on the scale {@link Scale#MISSING}, for example .99 at 2. */
    private static String share(double decades) {
        return BigDecimal.ONE
                .subtract(new BigDecimal(digits(Math.pow(10, -decades), 4)))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static String digits(double value, int digits) {
        return new BigDecimal(value)
                .round(new MathContext(digits))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }
}
