package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.PaperFigures;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.Traces;
import io.github.roost.simulator.orchestration.Figures.Found;
import io.github.roost.simulator.orchestration.Figures.Scaling;
import io.github.roost.simulator.orchestration.Figures.Timeline;
import io.github.roost.simulator.orchestration.Figures.Variant;
import io.github.roost.simulator.orchestration.Figures.Variants;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import io.github.roost.simulator.plot.Series.Point;
import io.github.roost.simulator.workload.WorkloadSpec;
import io.github.roost.simulator.workload.WorkloadSpec.FullSize;
import io.github.roost.simulator.workload.WorkloadSpec.Index;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** All figures as one HTML page without scripts, and the comparisons as lines of text. Not thread-safe. */
final class FigurePage {
    private static final List<String> POLICIES = List.of("v0", "v1", "v2", "v2-gated", "roost");
    /** Number of an index's tables in the paper's figures 16 and 17. */
    private static final int SHOWN_TABLES = 15;

    private static final int POINTS_OF_TIMELINE = 250;
    private static final int PAPER_LOOK = 6;

    private final StringBuilder page = new StringBuilder();
    private int plots;

    /** The whole page. */
    static String of(List<Found> regimes, String command) {
        FigurePage page = new FigurePage();
        page.head(command);
        regimes.forEach(page::regime);
        return page.page.append("</body></html>\n").toString();
    }

    private void head(String command) {
        page.append(
                "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The paper's figures, simulated</title>"
                        + "<meta name=\"viewport\" content=\"width=device-width\"><style>\n");
        page.append(Plot.css());
        page.append("body { background: var(--paper); color: var(--ink); font-family: sans-serif; max-width: 64rem;"
                + " margin: auto; padding: 1rem; line-height: 1.4 }\n"
                + ".plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem }\n"
                + "table { border-collapse: collapse; font-size: .85rem } td, th { padding: .2rem .6rem;"
                + " border-bottom: 1px solid var(--grid); text-align: right }\n"
                + "td:first-child, th:first-child { text-align: left } .wide { overflow-x: auto }\n"
                + "</style></head><body>\n<h1>The paper's figures, simulated</h1>\n");
        paragraph("Made by <code>" + command + "</code>. The paper is Huang et al., CCD-Level and Load-Aware Thread"
                + " Orchestration for In-Memory Vector ANNS on Multi-Core CPUs, 2026. Its values are from its text or"
                + " from the article about it; values that are only in its plots are left out. v0: round robin,"
                + " for IVF FAISS's fork and join; v1: stealing that ignores the topology; v2: Algorithms 1 and 2 as published;"
                + " v2-gated: with the gate of the paper's text; roost: the default.");
    }

    private void regime(Found found) {
        Regime regime = found.regime();
        heading(2, "Regime " + regime.name());
        paragraph(assumptions(regime.hnsw()) + " " + assumptions(regime.ivf()));
        figure6(regime);
        for (Scaling scaling : found.scaling()) {
            scaling(scaling);
        }
        found.scaling().stream().filter(each -> each.machine().equals("genoa")).forEach(this::tables);
        found.timelines().forEach(this::timeline);
        found.variants().forEach(this::comparison);
    }

    private static String assumptions(Traces traces) {
        WorkloadSpec spec = traces.spec();
        double gib = traces.tables().stream().mapToLong(Traces.Table::bytes).sum() / (double) (1L << 30);
        String base = String.format(
                Locale.ROOT,
                "%s: %d tables, %.1f GiB in all, dimensions %s, k %d to %d; the hottest table is searched %.0f times as"
                        + " often as the coldest (%s law); targets follow Zipf's law with exponent %s.",
                spec.index(),
                traces.tables().size(),
                gib,
                spec.dimensions(),
                spec.leastK(),
                spec.mostK(),
                spec.trafficSpan(),
                spec.popularity().name().toLowerCase(Locale.ROOT),
                spec.targetExponent());
        FullSize size = spec.fullSize();
        return size == null
                ? base
                : base
                        + String.format(
                                Locale.ROOT,
                                " Tables of %,d to %,d rows are copies of recorded tables of up to %,d rows; the copies follow"
                                        + " Zipf's law with exponent %s; recall %s was measured on the recorded tables.",
                                size.leastRows(),
                                size.mostRows(),
                                size.recordedRows(),
                                size.copyExponent(),
                                size.recall());
    }

    private void figure6(Regime regime) {
        heading(3, "Figure 6: skew of the reads");
        paragraph(
                "The share of accesses to the hottest nodes or lists, for the tables at the top, at a quarter and at half of the"
                        + " ranking by traffic. The paper's text gives no number, but its curves rise steeply. All figures"
                        + " below depend on this skew.");
        page.append("<div class=\"plots\">");
        for (Index index : List.of(Index.HNSW, Index.IVF)) {
            Traces traces = index == Index.HNSW ? regime.hnsw() : regime.ivf();
            List<Series> series = new ArrayList<>();
            for (Popularities.Curve curve : Popularities.of(traces)) {
                series.add(new Series(
                        curve.table(),
                        series.size(),
                        IntStream.range(0, curve.parts().length)
                                .mapToObj(i -> Point.of(curve.parts()[i], curve.accesses()[i]))
                                .toList(),
                        Series.Drawing.LINE));
            }
            plot(
                    "Figure 6: " + name(index),
                    Axis.logarithmic("hottest part of nodes or lists"),
                    Axis.fromZero("share of accesses"),
                    series);
        }
        page.append("</div>\n");
    }

    private void scaling(Scaling scaling) {
        boolean genoa = scaling.machine().equals("genoa");
        boolean hnsw = scaling.index() == Index.HNSW;
        heading(
                3,
                (genoa ? "Figures 5, 14, 15, 18, 19: " : "Figures 14, 15: ") + name(scaling.index()) + " on "
                        + scaling.machine());
        page.append("<div class=\"plots\">");
        List<Series> throughput = new ArrayList<>(series(scaling, result -> result.perSecond() / 1_000));
        int min = scaling.results().getFirst().domains();
        double one = scaling.at(min, "v0").perSecond() / min / 1_000;
        throughput.add(new Series(
                "ideal of v0", 5, List.of(Point.of(min, one * min), Point.of(12, one * 12)), Series.Drawing.LINE));
        List<Point> paper = paperThroughput(genoa, hnsw);
        if (!paper.isEmpty()) {
            throughput.add(new Series("paper: " + paperNames(genoa, hnsw), PAPER_LOOK, paper, Series.Drawing.MARKS));
        }
        plot(
                "Saturated throughput, " + scaling.machine(),
                Axis.fromZero("cache domains"),
                Axis.fromZero("thousand searches/s"),
                throughput);
        if (genoa) {
            plot(
                    "Figure 18: L3 miss ratio",
                    Axis.fromZero("cache domains"),
                    Axis.fromZero("misses of lookups"),
                    series(scaling, SimResult::l3MissRatio));
            plot(
                    "Figure 19a: CPU stall",
                    Axis.fromZero("cache domains"),
                    Axis.fromZero("share of busy time"),
                    series(scaling, SimResult::stallShare));
            plot(
                    "Figure 19b: steals across domains",
                    Axis.fromZero("cache domains"),
                    Axis.fromZero("share of steals"),
                    series(scaling, SimResult::crossShare));
        }
        page.append("</div>\n");
        summary(scaling);
    }

    private static List<Series> series(Scaling scaling, ToDoubleFunction<SimResult> of) {
        List<Series> series = new ArrayList<>();
        for (String policy : POLICIES) {
            List<Point> points = scaling.results().stream()
                    .filter(result -> result.policy().equals(policy))
                    .map(result -> Point.of(result.domains(), of.applyAsDouble(result)))
                    .toList();
            series.add(Series.marked(policy, series.size(), points));
        }
        return series;
    }

    private static List<Point> paperThroughput(boolean genoa, boolean hnsw) {
        if (!genoa) {
            return hnsw ? List.of(Point.of(12, 50)) : List.of();
        }
        return hnsw
                ? List.of(Point.of(12, 70), Point.of(12, 100))
                : List.of(Point.of(12, 10), Point.of(12, 25), Point.of(12, 35));
    }

    private static String paperNames(boolean genoa, boolean hnsw) {
        if (!genoa) {
            return "V2 50";
        }
        return hnsw ? "V0, V1 70, V2 100" : "V0 10, V1 25, V2 35";
    }

    private void summary(Scaling scaling) {
        int max = scaling.results().stream().mapToInt(SimResult::domains).max().orElseThrow();
        List<List<String>> rows = new ArrayList<>();
        for (String policy : POLICIES) {
            SimResult result = scaling.at(max, policy);
            rows.add(List.of(
                    policy,
                    format("%,.0f", result.perSecond()),
                    format("%.2f", result.perSecond() / scaling.at(max, "v0").perSecond()),
                    format("%.2f", result.perSecond() / scaling.at(max, "v1").perSecond()),
                    format("%,.0f", result.latencies().p50us()),
                    format("%,.0f", result.latencies().p999us()),
                    format("%.1f %%", 100 * result.l3MissRatio()),
                    format("%.1f %%", 100 * result.stallShare()),
                    format("%.0f", result.dramGBs()),
                    format("%.1f %%", 100 * result.crossShare())));
        }
        table(
                List.of(
                        "at " + max + " domains",
                        "searches/s",
                        "ratio to v0",
                        "ratio to v1",
                        "P50 us",
                        "P999 us",
                        "L3 miss",
                        "stalled",
                        "memory GB/s",
                        "steals across"),
                rows);
    }

    private void tables(Scaling scaling) {
        heading(3, "Figures 16, 17: " + name(scaling.index()) + ", table by table");
        int max = scaling.results().stream().mapToInt(SimResult::domains).max().orElseThrow();
        page.append("<div class=\"plots\">");
        latencies(scaling, max, "P50", table -> table.latencies().p50us());
        latencies(scaling, max, "P999", table -> table.latencies().p999us());
        page.append("</div>\n");
        paragraph(
                "Tables in the order of V0's latency; for HNSW every fourth table, as in the paper. The paper gives no number per"
                        + " table, only that in V2 P50 is 30 to 50 % and P999 60 to 90 % lower than in V0.");
    }

    private void latencies(Scaling scaling, int max, String what, ToDoubleFunction<SimResult.Table> of) {
        List<SimResult.Table> first = scaling.at(max, "v0").tables();
        List<Integer> order = IntStream.range(0, first.size())
                .filter(table -> first.get(table).latencies().count() > 0)
                .boxed()
                .sorted(Comparator.comparingDouble(table -> of.applyAsDouble(first.get(table))))
                .toList();
        int step = Math.max(1, order.size() / SHOWN_TABLES);
        List<Series> series = new ArrayList<>();
        for (String policy : POLICIES) {
            List<SimResult.Table> tables = scaling.at(max, policy).tables();
            List<Point> points = IntStream.range(0, order.size() / step)
                    .mapToObj(i -> Point.of(i + 1, of.applyAsDouble(tables.get(order.get(i * step))) / 1_000))
                    .toList();
            series.add(Series.marked(policy, series.size(), points));
        }
        plot(what + " of tables", Axis.fromZero("tables, by V0"), Axis.logarithmic("ms"), series);
    }

    private void timeline(Timeline timeline) {
        heading(3, "Figure 20: " + name(timeline.index()) + " over time");
        page.append("<div class=\"plots\">");
        List<Series> series = new ArrayList<>();
        List<List<String>> rows = new ArrayList<>();
        for (SimResult result : timeline.results()) {
            List<SimResult.Window> windows = result.windows();
            int step = Math.max(1, windows.size() / POINTS_OF_TIMELINE);
            List<Point> points = IntStream.range(0, windows.size() / step)
                    .mapToObj(i -> Point.of(i * step + 1, mean(windows.subList(i * step, (i + 1) * step)) / 1_000))
                    .toList();
            series.add(new Series(result.policy(), POLICIES.indexOf(result.policy()), points, Series.Drawing.LINE));
            double[] sorted = windows.stream()
                    .mapToDouble(SimResult.Window::meanMicros)
                    .sorted()
                    .toArray();
            rows.add(List.of(
                    result.policy(),
                    format("%.2f", mean(windows) / 1_000),
                    format("%.2f", sorted[sorted.length / 2] / 1_000),
                    format("%.2f", sorted[sorted.length - 1] / 1_000),
                    Long.toString(result.remaps()),
                    format("%,.0f", result.movedMib())));
        }
        plot(
                "Mean latency, open loop at %,.0f/s".formatted(timeline.rate()),
                Axis.fromZero("window"),
                Axis.fromZero("ms"),
                series);
        page.append("</div>\n");
        table(
                List.of("open loop at .7 of V1", "mean ms", "median window", "worst window", "remaps", "moved MiB"),
                rows);
        paragraph(
                "A hot and a cold table exchange their popularity every 25 windows. The paper's windows have 10 s; these have"
                        + " as many searches as can be simulated. The paper's text gives no number, only that V2 is lower and flatter"
                        + " than V1.");
    }

    private static double mean(List<SimResult.Window> windows) {
        return windows.stream()
                .mapToDouble(SimResult.Window::meanMicros)
                .average()
                .orElse(0);
    }

    private void comparison(Variants variants) {
        heading(3, name(variants.index()) + ": compared with the paper, and causes of differences");
        List<List<String>> rows = new ArrayList<>();
        List<PaperFigures.Figure> figures = variants.each().getFirst().figures();
        for (int figure = 0; figure < figures.size(); figure++) {
            PaperFigures.Figure here = figures.get(figure);
            rows.add(List.of(
                    here.name(), here.hereText(), here.paperText(), here.difference(), nearest(variants, figure)));
        }
        table(List.of("on genoa, 12 domains", "here", "the paper", "difference", "nearest with one change"), rows);
        page.append("<details><summary>All assumptions, one at a time</summary>");
        List<String> head = new ArrayList<>(List.of("change"));
        figures.forEach(figure -> head.add(figure.name()));
        POLICIES.subList(3, 5).forEach(policy -> head.add(policy + " over V1"));
        List<List<String>> details = new ArrayList<>();
        for (Variant variant : variants.each()) {
            List<String> row = new ArrayList<>(List.of(variant.assumption()));
            variant.figures().forEach(figure -> row.add(figure.hereText()));
            POLICIES.subList(3, 5).forEach(policy -> row.add(format("%.2f", overV1(variant, policy))));
            details.add(row);
        }
        table(head, details);
        page.append("</details>\n");
    }

    private static double overV1(Variant variant, String policy) {
        return at(variant, policy).perSecond() / at(variant, "v1").perSecond();
    }

    private static SimResult at(Variant variant, String policy) {
        return variant.results().stream()
                .filter(result -> result.policy().equals(policy))
                .max(Comparator.comparingInt(SimResult::domains))
                .orElseThrow();
    }

    /** The changed assumption that brings a figure nearest to the paper's, and its value then; "none" if no change does. */
    static String nearest(Variants variants, int figure) {
        PaperFigures.Figure here = variants.each().getFirst().figures().get(figure);
        Variant best = variants.each().stream()
                .min(Comparator.comparingDouble(
                        each -> each.figures().get(figure).distance()))
                .orElseThrow();
        PaperFigures.Figure present = best.figures().get(figure);
        return present.distance() >= here.distance() ? "none" : best.assumption() + ": " + present.hereText();
    }

    /** The comparisons of all regimes as lines of text. */
    static List<String> lines(List<Found> regimes) {
        List<String> lines = new ArrayList<>();
        for (Found found : regimes) {
            for (Variants variants : found.variants()) {
                lines.add("");
                lines.add("%-62s %10s %11s %13s  %s"
                        .formatted(
                                found.regime().name() + ", " + name(variants.index()) + ", genoa, most domains",
                                "here",
                                "the paper",
                                "difference",
                                "nearest with one change"));
                List<PaperFigures.Figure> figures = variants.each().getFirst().figures();
                for (int figure = 0; figure < figures.size(); figure++) {
                    PaperFigures.Figure here = figures.get(figure);
                    lines.add("%-62s %10s %11s %13s  %s"
                            .formatted(
                                    here.name(),
                                    here.hereText(),
                                    here.paperText(),
                                    here.difference(),
                                    nearest(variants, figure)));
                }
            }
        }
        return lines;
    }

    private void plot(String title, Axis across, Axis up, List<Series> series) {
        plots++;
        page.append("<div>")
                .append(new Plot(title, across, up, series).inlineSvg("p" + plots))
                .append("</div>\n");
    }

    private void heading(int level, String text) {
        page.append("<h%d>%s</h%d>\n".formatted(level, text, level));
    }

    private void paragraph(String text) {
        page.append("<p>").append(text).append("</p>\n");
    }

    private void table(List<String> head, List<List<String>> rows) {
        page.append("<div class=\"wide\"><table><tr>");
        head.forEach(cell -> page.append("<th>").append(cell).append("</th>"));
        page.append("</tr>\n");
        for (List<String> row : rows) {
            page.append("<tr>");
            row.forEach(cell -> page.append("<td>").append(cell).append("</td>"));
            page.append("</tr>\n");
        }
        page.append("</table></div>\n");
    }

    private static String format(String pattern, double value) {
        return String.format(Locale.ROOT, pattern, value);
    }

    private static String name(Index index) {
        return index.name();
    }
}
