package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.rivals.Curves;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import io.github.roost.simulator.plot.Series.Point;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Views of Roost's tables compared with third-party engines. Stateless. */
final class PeerViews {
    private static final double[] RECALLS = {.9, .95, .99};

    private PeerViews() {}

    /** The engines of {@code bench rivals}: their sizes, and their speed at equal recall. */
    static Block rivals(JsonNode json) {
        StringBuilder tables = new StringBuilder();
        List<Plot> plots = new ArrayList<>();
        for (Curves curves : curves(json)) {
            plots.add(curves.plot());
            tables.append("\n\n").append(atRecalls(json, curves));
        }
        String built = json.path("index").asText().equals("ivf")
                ? "nlist %d".formatted(json.path("nlist").asInt())
                : "M %d, efConstruction %d"
                        .formatted(
                                json.path("m").asInt(),
                                json.path("efConstruction").asInt());
        String setting = "%s; %s, threads: %d."
                .formatted(
                        json.path("workload").asText(),
                        built,
                        json.path("threads").asInt());
        return new Block(setting + tables, plots);
    }

    private static MarkdownTable atRecalls(JsonNode json, Curves curves) {
        List<String> head = new ArrayList<>(List.of("k=%d".formatted(curves.k()), "build s", "bytes per row"));
        for (double recall : RECALLS) {
            head.add("recall %s: searches/s (min to max)".formatted(Numbers.decimals(2, recall)));
        }
        MarkdownTable table = new MarkdownTable(head);
        for (Curves.Curve curve : curves.curves()) {
            JsonNode engine = engine(json, curve.engine());
            List<String> row = new ArrayList<>(List.of(
                    curve.engine(),
                    Numbers.decimals(1, engine.path("buildSeconds").asDouble()),
                    Numbers.whole(engine.path("bytesPerRow").asDouble(Double.NaN))));
            for (double recall : RECALLS) {
                row.add(rate(curve, recall));
            }
            table.row(row);
        }
        return table;
    }

    private static JsonNode engine(JsonNode json, String name) {
        for (JsonNode engine : json.path("engines")) {
            if (engine.path("engine").asText().equals(name)) {
                return engine;
            }
        }
        return json.path("engines").path(json.path("engines").size());
    }

    private static String rate(Curves.Curve curve, double recall) {
        int rounds = curve.points().getFirst().rates().size();
        Samples rates = Samples.of(IntStream.range(0, rounds)
                .mapToObj(round -> curve.rateAt(recall, round))
                .toList());
        return Double.isNaN(rates.median()) ? "" : Numbers.spread(rates);
    }

    private static List<Curves> curves(JsonNode json) {
        Map<Integer, List<Curves.Curve>> byK = new TreeMap<>();
        for (JsonNode curve : json.path("curves")) {
            List<Curves.Point> points = new ArrayList<>();
            curve.path("points")
                    .forEach(point -> points.add(new Curves.Point(
                            point.path("ef").asInt(),
                            point.path("recall").asDouble(),
                            Numbers.numbers(point.path("searchesPerSecond")))));
            byK.computeIfAbsent(curve.path("k").asInt(), k -> new ArrayList<>())
                    .add(new Curves.Curve(curve.path("engine").asText(), Duration.ZERO, points));
        }
        return byK.entrySet().stream()
                .map(entry -> new Curves(json.path("workload").asText(), entry.getKey(), 1, entry.getValue()))
                .toList();
    }

    /** One line of {@code bench ivf}. */
    private record IvfPoint(
            int k,
            int nprobe,
            String engine,
            double recall,
            Samples perSecond,
            double pairsPerSecond,
            double loneP50,
            double loneP999) {
        static IvfPoint of(JsonNode json) {
            JsonNode point = json.path("point");
            String engine = point.path("engine").asText();
            boolean peer = engine.equals("faiss");
            return new IvfPoint(
                    json.path("k").asInt(),
                    json.path("nprobe").asInt(),
                    peer
                            ? engine
                            : "%s, %d in flight"
                                    .formatted(engine, point.path("inFlight").asInt()),
                    point.path("recall").asDouble(),
                    Numbers.samples(point.path("perSecond")),
                    point.path("pairsPerSecond").asDouble(),
                    point.path("loneP50").path("median").asDouble(),
                    point.path("loneP999").path("median").asDouble());
        }
    }

    /** The points of {@code bench ivf}, and one curve per engine for each k. */
    static Block ivf(JsonNode json) {
        List<IvfPoint> points = new ArrayList<>();
        json.path("points").forEach(point -> points.add(IvfPoint.of(point)));
        MarkdownTable table = new MarkdownTable(
                "k, nprobe",
                "engine",
                "recall",
                "searches/s (min to max)",
                "ratio to FAISS",
                "M pairs/s",
                "single search: P50 us",
                "P999 us");
        for (IvfPoint point : points) {
            String times = points.stream()
                    .filter(other -> other.engine.equals("faiss")
                            && !other.equals(point)
                            && other.k == point.k
                            && other.nprobe == point.nprobe)
                    .findFirst()
                    .map(faiss -> Numbers.ratio(point.perSecond.median() / faiss.perSecond.median()))
                    .orElse("");
            table.row(
                    "%d, %d".formatted(point.k, point.nprobe),
                    point.engine,
                    Numbers.decimals(3, point.recall),
                    Numbers.spread(point.perSecond),
                    times,
                    Numbers.whole(point.pairsPerSecond / 1e6),
                    Numbers.whole(point.loneP50),
                    Numbers.whole(point.loneP999));
        }
        Samples limit = Numbers.samples(json.path("kernelLimit").path("pairsPerSecond"));
        String workload = String.format(
                Locale.ROOT,
                "%s, %d lists. With full groups and long lists the kernel compares %.0f M pairs of query and row per second"
                        + " (%.0f to %.0f).",
                json.path("workload").asText(),
                json.path("nlist").asInt(),
                limit.median() / 1e6,
                limit.least() / 1e6,
                limit.most() / 1e6);
        return new Block(workload + "\n\n" + table, plots(json.path("workload").asText(), points));
    }

    private static List<Plot> plots(String workload, List<IvfPoint> points) {
        List<Plot> plots = new ArrayList<>();
        for (int k : points.stream().map(IvfPoint::k).distinct().toList()) {
            Map<String, List<Point>> engines = new LinkedHashMap<>();
            points.stream()
                    .filter(point -> point.k == k)
                    .forEach(point -> engines.computeIfAbsent(point.engine, engine -> new ArrayList<>())
                            .add(new Point(
                                    point.recall,
                                    point.perSecond.median(),
                                    (point.perSecond.most() - point.perSecond.least()) / 2)));
            List<Series> series = new ArrayList<>();
            engines.forEach((engine, curve) -> series.add(Series.marked(engine, series.size(), curve)));
            plots.add(new Plot(
                    "IVF, %s, k=%d".formatted(workload, k),
                    Axis.missing("recall"),
                    Axis.logarithmic("searches/s"),
                    series));
        }
        return plots;
    }

    /** The cost of a search of many lists, compared with the sum of its scans. */
    static Block fanOut(JsonNode json) {
        MarkdownTable table = new MarkdownTable(
                "nprobe", "rows", "search us (min to max)", "the same lists in one task, us", "search over scans");
        for (JsonNode result : json.path("results")) {
            table.row(
                    result.path("nprobe").asText(),
                    Numbers.whole(result.path("rows").asDouble()),
                    Numbers.spread(Numbers.samples(result.path("searchUs"))),
                    Numbers.spread(Numbers.samples(result.path("scansUs"))),
                    Numbers.ratios(Numbers.samples(result.path("ratio"))));
        }
        return Block.of(table.toString());
    }

    /** The cost of adding rows, and its effect on searches. */
    static Block freshness(JsonNode json) {
        JsonNode result = json.path("result");
        MarkdownTable table = new MarkdownTable(
                "adds",
                "P50, P99, P999 us of an add",
                "searches' P99 us without adds",
                "with adds",
                "P99 with over without",
                "searches/s with over without");
        table.row(
                Numbers.whole(result.path("adds").asDouble()),
                "%s, %s, %s"
                        .formatted(
                                Numbers.decimals(1, result.at("/add/p50us").asDouble()),
                                Numbers.decimals(1, result.at("/add/p99us").asDouble()),
                                Numbers.decimals(1, result.at("/add/p999us").asDouble())),
                Numbers.spread(Numbers.samples(result.path("quietP99"))),
                Numbers.spread(Numbers.samples(result.path("busyP99"))),
                Numbers.ratios(Numbers.samples(result.path("p99Ratio"))),
                Numbers.ratios(Numbers.samples(result.path("rateRatio"))));
        return Block.of(table.toString());
    }
}
