package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.simulator.PaperFigures;
import io.github.roost.simulator.Parameters;
import io.github.roost.simulator.SimReport;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.SimResult.Window;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import io.github.roost.simulator.plot.Series.Drawing;
import io.github.roost.simulator.plot.Series.Point;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** Views of simulations. Stateless. */
final class SimViews {
    private static final String DOMAINS = "cache domains";
    private static final int DRAWN_WINDOWS = 250;
    private static final int MAX_MARKS = 60;

    /** The calibrated parameters that differ between machines. */
    private static final List<String> CALIBRATED = List.of(
            "/machines/here/l3Mib",
            "/machines/here/l3Nanos",
            "/machines/here/dramNanos",
            "/tasks/taskNanos",
            "/tasks/wakeNanos",
            "/tasks/forkJoinNanos",
            "/tasks/lateNanos",
            "/tasks/hnsw/itemNanos",
            "/tasks/hnsw/lineNanos",
            "/tasks/hnswExact/lineNanos",
            "/tasks/ivf/searchNanos",
            "/tasks/ivf/pairNanos");

    private SimViews() {}

    private static SimReport report(JsonNode result) {
        return Results.JSON.convertValue(result, SimReport.class);
    }

    private static List<Integer> domains(SimReport report) {
        return report.results().stream()
                .map(SimResult::domains)
                .distinct()
                .sorted()
                .toList();
    }

    private static List<String> policies(SimReport report) {
        return report.results().stream().map(SimResult::policy).distinct().toList();
    }

    private static Optional<SimResult> find(SimReport report, String policy, int domains) {
        return report.results().stream()
                .filter(result -> result.policy().equals(policy) && result.domains() == domains)
                .findFirst();
    }

    private static List<SimResult> atMost(SimReport report) {
        int max = domains(report).getLast();
        return report.results().stream()
                .filter(result -> result.domains() == max)
                .toList();
    }

    /** Searches per second by domains and policies. */
    static Block sweep(JsonNode json) {
        SimReport report = report(json);
        List<String> policies = policies(report);
        List<String> head = new ArrayList<>(List.of(DOMAINS));
        policies.forEach(policy -> head.add(policy + ", searches/s"));
        MarkdownTable table = new MarkdownTable(head);
        for (int domains : domains(report)) {
            List<String> row = new ArrayList<>(List.of(String.valueOf(domains)));
            policies.forEach(policy -> row.add(find(report, policy, domains)
                    .map(result -> Numbers.whole(result.perSecond()))
                    .orElse("")));
            table.row(row);
        }
        return new Block(
                table.toString(),
                List.of(
                        byDomains(report, "Throughput", "searches/s", SimResult::perSecond),
                        byDomains(
                                report,
                                "P50",
                                "us",
                                result -> result.latencies().p50us()),
                        byDomains(
                                report,
                                "P999",
                                "us",
                                result -> result.latencies().p999us()),
                        byDomains(report, "L3 miss ratio", "%", result -> 100 * result.l3MissRatio()),
                        byDomains(report, "Stalled share of busy time", "%", result -> 100 * result.stallShare()),
                        byDomains(
                                report,
                                "Steals that cross domains",
                                "% of steals",
                                result -> 100 * result.crossShare())));
    }

    private static Plot byDomains(SimReport report, String title, String unit, ToDoubleFunction<SimResult> figure) {
        List<Series> series = new ArrayList<>();
        for (String policy : policies(report)) {
            List<Point> points = domains(report).stream()
                    .flatMap(domains -> find(report, policy, domains).stream())
                    .map(result -> Point.of(result.domains(), figure.applyAsDouble(result)))
                    .toList();
            series.add(Series.marked(policy, PlotStyles.of(policy, series.size()), points));
        }
        return new Plot(
                "%s, %s".formatted(title, report.spec().name()), Axis.linear(DOMAINS), Axis.fromZero(unit), series);
    }

    /** All figures of each policy at the max domains. */
    static Block detail(JsonNode json) {
        SimReport report = report(json);
        List<SimResult> results = atMost(report);
        SimResult first = results.getFirst();
        Optional<SimResult> v2 = find(report, "v2", first.domains());
        MarkdownTable table = new MarkdownTable(
                "at %d domains".formatted(first.domains()),
                "searches/s",
                "ratio to " + first.policy(),
                "ratio to v2",
                "P50 us",
                "P999 us",
                "busy",
                "L3 miss",
                "stalled",
                "memory GB/s",
                "steals across",
                "remaps",
                "moved MiB");
        for (SimResult result : results) {
            table.row(
                    result.policy(),
                    Numbers.whole(result.perSecond()),
                    Numbers.ratio(result.perSecond() / first.perSecond()),
                    v2.map(paper -> Numbers.ratio(result.perSecond() / paper.perSecond()))
                            .orElse(""),
                    Numbers.whole(result.latencies().p50us()),
                    Numbers.whole(result.latencies().p999us()),
                    Numbers.percent(result.utilization()),
                    Numbers.percent(result.l3MissRatio()),
                    Numbers.percent(result.stallShare()),
                    Numbers.decimals(1, result.dramGBs()),
                    "%s of %s".formatted(Numbers.percent(result.crossShare()), Numbers.whole((double)
                            (result.intraSteals() + result.crossSteals()))),
                    Numbers.whole((double) result.remaps()),
                    Numbers.whole(result.movedMib()));
        }
        return Block.of(table.toString());
    }

    /** The paper's figures, compared with ours. */
    static Block paper(JsonNode json) {
        SimReport report = report(json);
        MarkdownTable table = new MarkdownTable("figure of the paper", "here", "the paper", "difference");
        PaperFigures.of(report.spec().index(), report.results())
                .forEach(
                        figure -> table.row(figure.name(), figure.hereText(), figure.paperText(), figure.difference()));
        return Block.of(table.toString());
    }

    /** P50 and P999 of each table: how many tables are faster than under the first policy, and by how much. */
    static Block tables(JsonNode json) {
        SimReport report = report(json);
        List<SimResult> results = atMost(report).stream()
                .filter(result -> !result.tables().isEmpty())
                .toList();
        if (results.isEmpty()) {
            return Block.of("");
        }
        SimResult first = results.getFirst();
        MarkdownTable table = new MarkdownTable(
                "of %d tables".formatted(first.tables().size()),
                "P50 lower than %s's".formatted(first.policy()),
                "reduction in the median table",
                "P999 lower",
                "reduction in the median table",
                "hottest table's P50, P999 us");
        for (SimResult result : results.subList(1, results.size())) {
            List<Double> p50 = lower(result, first, of -> of.latencies().p50us());
            List<Double> p999 = lower(result, first, of -> of.latencies().p999us());
            SimResult.Table hottest = hottest(result);
            table.row(
                    result.policy(),
                    String.valueOf(p50.stream().filter(share -> share > 0).count()),
                    Numbers.percent(Samples.of(p50).median()),
                    String.valueOf(p999.stream().filter(share -> share > 0).count()),
                    Numbers.percent(Samples.of(p999).median()),
                    "%s, %s"
                            .formatted(
                                    Numbers.whole(hottest.latencies().p50us()),
                                    Numbers.whole(hottest.latencies().p999us())));
        }
        long all =
                first.tables().stream().mapToLong(of -> of.latencies().count()).sum();
        String share = "The hottest table has %s of all searches; an equal share of %d domains is %s."
                .formatted(
                        Numbers.percent((double) hottest(first).latencies().count() / all),
                        first.domains(),
                        Numbers.percent(1.0 / first.domains()));
        return new Block(
                table + "\n\n" + share,
                List.of(
                        byTable(report, results, "P50", of -> of.latencies().p50us()),
                        byTable(report, results, "P999", of -> of.latencies().p999us())));
    }

    private static SimResult.Table hottest(SimResult result) {
        return result.tables().stream()
                .max(Comparator.comparingLong(table -> table.latencies().count()))
                .orElseThrow();
    }

    private static List<Double> lower(SimResult these, SimResult than, ToDoubleFunction<SimResult.Table> figure) {
        return IntStream.range(0, than.tables().size())
                .filter(table -> than.tables().get(table).latencies().count() > 0
                        && these.tables().get(table).latencies().count() > 0)
                .mapToObj(table -> 1
                        - figure.applyAsDouble(these.tables().get(table))
                                / figure.applyAsDouble(than.tables().get(table)))
                .toList();
    }

    private static Plot byTable(
            SimReport report, List<SimResult> results, String title, ToDoubleFunction<SimResult.Table> figure) {
        List<Series> series = new ArrayList<>();
        for (SimResult result : results) {
            List<SimResult.Table> hottestFirst = result.tables().stream()
                    .filter(table -> table.latencies().count() > 0)
                    .sorted(Comparator.comparingLong(
                                    (SimResult.Table table) -> table.latencies().count())
                            .reversed())
                    .toList();
            List<Point> points = IntStream.range(0, hottestFirst.size())
                    .mapToObj(rank -> Point.of(rank + 1.0, figure.applyAsDouble(hottestFirst.get(rank))))
                    .toList();
            series.add(
                    new Series(result.policy(), PlotStyles.of(result.policy(), series.size()), points, Drawing.MARKS));
        }
        return new Plot(
                "%s of each table, %s".formatted(title, report.spec().name()),
                Axis.linear("tables, hottest first"),
                Axis.logarithmic("us"),
                series);
    }

    /** How the policies adapt to a drifting workload. */
    static Block drift(JsonNode json) {
        SimReport report = report(json);
        MarkdownTable table = new MarkdownTable(
                "windows",
                "searches/s",
                "per window: median (5 % to 95 %)",
                "largest load of a domain over the mean, median",
                "remaps",
                "moved MiB");
        List<Series> rates = new ArrayList<>();
        List<Series> imbalances = new ArrayList<>();
        for (SimResult result : report.results()) {
            List<Double> sorted =
                    result.windows().stream().map(Window::perSecond).sorted().toList();
            int last = sorted.size() - 1;
            table.row(
                    "%s, %s".formatted(result.policy(), Numbers.whole(sorted.size())),
                    Numbers.whole(result.perSecond()),
                    last < 0
                            ? ""
                            : "%s (%s to %s)"
                                    .formatted(
                                            Numbers.whole(sorted.get(last / 2)),
                                            Numbers.whole(sorted.get(last / 20)),
                                            Numbers.whole(sorted.get(last - last / 20))),
                    Numbers.ratio(result.medianImbalance()),
                    Numbers.whole((double) result.remaps()),
                    Numbers.whole(result.movedMib()));
            timeline(rates, result, Window::perSecond);
            timeline(imbalances, result, Window::imbalance);
        }
        if (rates.isEmpty()) {
            return Block.of(table.toString());
        }
        return new Block(
                table.toString(),
                List.of(
                        new Plot("Timeline: throughput", Axis.fromZero("window"), Axis.fromZero("searches/s"), rates),
                        new Plot(
                                "Timeline: largest load of a domain",
                                Axis.fromZero("window"),
                                Axis.fromZero("times the mean"),
                                imbalances)));
    }

    /** A curve of means over groups of windows, with marks at its remaps. */
    private static void timeline(List<Series> series, SimResult result, ToDoubleFunction<Window> figure) {
        List<Window> windows = result.windows();
        int group = Math.max(1, windows.size() / DRAWN_WINDOWS);
        List<Point> points = new ArrayList<>();
        List<Point> remaps = new ArrayList<>();
        for (int first = 0; first + group <= windows.size(); first += group) {
            List<Window> several = windows.subList(first, first + group);
            Point point = Point.of(
                    first + group / 2.0,
                    several.stream().mapToDouble(figure).average().orElseThrow());
            points.add(point);
            if (first > 0 && several.getLast().remaps() > windows.get(first - 1).remaps()) {
                remaps.add(point);
            }
        }
        if (points.size() < 2) {
            return;
        }
        int look = PlotStyles.of(result.policy(), series.size());
        series.add(new Series(result.policy(), look, points, Drawing.LINE));
        if (!remaps.isEmpty() && remaps.size() <= MAX_MARKS) {
            series.add(new Series("remap of " + result.policy(), look, remaps, Drawing.MARKS));
        }
    }

    /** The measured parameters of a calibration, compared with the built-in ones. */
    static Block calibration(JsonNode json) {
        JsonNode known = known();
        MarkdownTable table = new MarkdownTable("parameter", "measured here", "built in");
        for (String pointer : CALIBRATED) {
            table.row(
                    pointer.substring(pointer.indexOf('/', 1) + 1).replace('/', ' '),
                    figure(json.at(pointer)),
                    figure(known.at(pointer)));
        }
        return Block.of(table.toString());
    }

    private static JsonNode known() {
        try {
            return Results.JSON.readTree(Parameters.builtIn().json());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static String figure(JsonNode number) {
        return number.isNumber() ? String.format(Locale.ROOT, "%.4g", number.asDouble()) : "";
    }

    /** The sensitivity of the results to each assumption. */
    static Block sensitivity(JsonNode json) {
        SimReport report = report(json);
        List<String> policies = report.sensitivity().getFirst().results().stream()
                .map(SimResult::policy)
                .toList();
        List<String> head = new ArrayList<>(List.of("assumption"));
        policies.forEach(policy -> head.add(policy + ", searches/s"));
        head.add("%s over %s".formatted(policies.getLast(), policies.getFirst()));
        MarkdownTable table = new MarkdownTable(head);
        report.sensitivity().forEach(variant -> table.row(assumed(variant.assumption(), variant.results())));
        return Block.of(table.toString());
    }

    private static List<String> assumed(String name, List<SimResult> results) {
        List<String> row = new ArrayList<>(List.of(name));
        results.forEach(result -> row.add(Numbers.whole(result.perSecond())));
        row.add(Numbers.ratio(results.getLast().perSecond() / results.getFirst().perSecond()));
        return row;
    }
}
