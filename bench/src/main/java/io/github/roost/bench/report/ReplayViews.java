package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.simulator.SimResult;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.plot.Axis;
import io.github.roost.simulator.plot.Plot;
import io.github.roost.simulator.plot.Series;
import io.github.roost.simulator.plot.Series.Point;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Views of replays on this machine. Stateless. */
final class ReplayViews {
    /** Max relative error of a prediction that counts as near. */
    private static final double TOLERANCE = .25;

    private ReplayViews() {}

    private record Contender(String name, Interval rate, Interval ratio, JsonNode json) {
        static Contender of(JsonNode json) {
            return new Contender(
                    json.path("name").asText(),
                    Interval.of(Numbers.numbers(json.path("rates"))),
                    Interval.of(Numbers.numbers(json.path("ratios"))),
                    json);
        }

        double micros(String percentile) {
            return json.path("latencies").path(percentile).asDouble();
        }
    }

    /** The measurements of the closed loop and of each open loop, with the simulator's predictions. */
    static Block of(JsonNode json) {
        List<Contender> contenders = contenders(json);
        Map<String, SimResult> predicted = predicted(json);
        StringBuilder markdown = new StringBuilder(
                closed(json.path("domains").asInt(), contenders, predicted).toString());
        if (!predicted.isEmpty()) {
            markdown.append("\n\n").append(judged(contenders, predicted));
        }
        for (JsonNode load : json.path("loads")) {
            markdown.append("\n\n").append(open(load));
        }
        return new Block(markdown.toString(), plots(json));
    }

    private static List<Contender> contenders(JsonNode json) {
        List<Contender> contenders = new ArrayList<>();
        json.path("outcomes").forEach(outcome -> contenders.add(Contender.of(outcome)));
        return contenders;
    }

    private static Map<String, SimResult> predicted(JsonNode json) {
        Map<String, SimResult> predicted = new TreeMap<>();
        json.path("predicted").forEach(simulated -> {
            SimResult result = Results.JSON.convertValue(simulated, SimResult.class);
            predicted.put(result.policy(), result);
        });
        return predicted;
    }

    private static MarkdownTable closed(int domains, List<Contender> contenders, Map<String, SimResult> predicted) {
        String first = contenders.getFirst().name;
        MarkdownTable table = new MarkdownTable(
                "closed loop, %d domains".formatted(domains),
                "searches/s",
                "P50 us",
                "P999 us",
                "recall",
                "steals in, across",
                "remaps",
                "ratio to " + first,
                "predicted/s",
                "predicted over measured");
        for (Contender contender : contenders) {
            SimResult simulated = predicted.get(contender.name);
            JsonNode scheduled = contender.json.path("scheduled");
            table.row(
                    contender.name,
                    Numbers.interval(contender.rate),
                    Numbers.whole(contender.micros("p50us")),
                    Numbers.whole(contender.micros("p999us")),
                    Numbers.decimals(3, contender.json.path("recall").asDouble()),
                    "%s, %s"
                            .formatted(
                                    Numbers.whole(scheduled.path("intraSteals").asDouble()),
                                    Numbers.whole(scheduled.path("crossSteals").asDouble())),
                    Numbers.whole(scheduled.path("remaps").asDouble()),
                    contender.name.equals(first) ? "" : verdict(contender.ratio),
                    simulated == null ? "" : Numbers.whole(simulated.perSecond()),
                    simulated == null ? "" : Numbers.ratio(simulated.perSecond() / contender.rate.mean()));
        }
        return table;
    }

    private static String open(JsonNode load) {
        Map<String, SimResult> predicted = predicted(load);
        MarkdownTable table = new MarkdownTable(
                "open loop, %s of the load, %s/s"
                        .formatted(
                                Numbers.ratio(load.path("load").asDouble()),
                                Numbers.whole(load.path("perSecond").asDouble())),
                "searches/s",
                "P50 us",
                "P99 us",
                "P999 us",
                "submitted late, P999 us",
                "predicted P50, P999 us",
                "predicted over measured P50, P999");
        for (Contender contender : contenders(load)) {
            SimResult simulated = predicted.get(contender.name);
            double p50 = contender.micros("p50us");
            double p999 = contender.micros("p999us");
            table.row(
                    contender.name,
                    Numbers.interval(contender.rate),
                    Numbers.whole(p50),
                    Numbers.whole(contender.micros("p99us")),
                    Numbers.whole(p999),
                    Numbers.whole(contender.json.at("/late/p999us").asDouble()),
                    simulated == null
                            ? ""
                            : "%s, %s"
                                    .formatted(
                                            Numbers.whole(simulated.latencies().p50us()),
                                            Numbers.whole(simulated.latencies().p999us())),
                    simulated == null
                            ? ""
                            : "%s, %s"
                                    .formatted(
                                            Numbers.ratio(simulated.latencies().p50us() / p50),
                                            Numbers.ratio(simulated.latencies().p999us() / p999)));
        }
        return table.toString();
    }

    private static List<Plot> plots(JsonNode json) {
        String name = json.at("/workload/name").asText();
        return json.path("loads").size() < 2
                ? List.of()
                : List.of(plot(json, name, "P50", "p50us"), plot(json, name, "P999", "p999us"));
    }

    private static Plot plot(JsonNode json, String name, String title, String figure) {
        Map<String, List<Point>> points = new LinkedHashMap<>();
        for (JsonNode load : json.path("loads")) {
            for (Contender contender : contenders(load)) {
                points.computeIfAbsent(contender.name, contended -> new ArrayList<>())
                        .add(Point.of(load.path("perSecond").asDouble(), contender.micros(figure)));
            }
        }
        List<Series> series = new ArrayList<>();
        points.forEach((contender, curve) ->
                series.add(Series.marked(contender, PlotStyles.of(contender, series.size()), curve)));
        return new Plot(
                "Replay in open loop, %s: %s".formatted(name, title),
                Axis.linear("searches/s"),
                Axis.logarithmic("us"),
                series);
    }

    private static String verdict(Interval ratio) {
        String spread = String.format(Locale.ROOT, "%.3f ± %.3f", ratio.mean(), ratio.halfWidth());
        return ratio.contains(1) ? spread + ": noise exceeds the difference" : spread;
    }

    /**
     * A sentence on the accuracy of the predictions: their error, and their order where the measurements are
     * distinguishable.
     */
    private static String judged(List<Contender> contenders, Map<String, SimResult> predicted) {
        List<Contender> simulated = contenders.stream()
                .filter(contender -> predicted.containsKey(contender.name))
                .toList();
        if (simulated.isEmpty()) {
            return "";
        }
        List<Double> shares = simulated.stream()
                .map(contender -> rate(predicted, contender) / contender.rate.mean())
                .sorted()
                .toList();
        long near = shares.stream()
                .filter(share -> Math.abs(share - 1) <= TOLERANCE)
                .count();
        Contender first = simulated.getFirst();
        List<Contender> distinct = simulated.stream()
                .skip(1)
                .filter(contender -> !contender.ratio.contains(1))
                .toList();
        long ordered = distinct.stream()
                .filter(contender -> contender.ratio.mean() > 1 == rate(predicted, contender) > rate(predicted, first))
                .count();
        String order = distinct.isEmpty()
                ? "No difference from %s exceeds the noise.".formatted(first.name)
                : "Of the %d whose difference from %s exceeds the noise, it predicts the direction of %d."
                        .formatted(distinct.size(), first.name, ordered);
        return "The simulator predicts %s to %s of the measured searches/s: %d of %d within 25 %%. %s"
                .formatted(
                        Numbers.ratio(shares.getFirst()), Numbers.ratio(shares.getLast()), near, shares.size(), order);
    }

    private static double rate(Map<String, SimResult> predicted, Contender contender) {
        SimResult simulated = predicted.get(contender.name);
        return simulated == null ? Double.NaN : simulated.perSecond();
    }
}
