package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.Interval;
import io.github.roost.bench.sim.SimResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What replays on this machine show. Stateless. */
final class ReplayViews {
    /** How far a prediction may be off. */
    private static final double TOLERANCE = .25;

    private ReplayViews() {}

    private record Contender(String name, Interval rate, Interval ratio, JsonNode json) {
        static Contender of(JsonNode json) {
            return new Contender(
                    json.path("name").asText(),
                    Interval.of(Figures.numbers(json.path("rates"))),
                    Interval.of(Figures.numbers(json.path("ratios"))),
                    json);
        }
    }

    /** What was measured, and what the simulator predicted of it. */
    static Block of(JsonNode json) {
        List<Contender> contenders = new ArrayList<>();
        json.path("outcomes").forEach(outcome -> contenders.add(Contender.of(outcome)));
        Map<String, Double> predicted = new TreeMap<>();
        json.path("predicted").forEach(simulated -> {
            SimResult result = Results.JSON.convertValue(simulated, SimResult.class);
            predicted.put(result.policy(), result.perSecond());
        });
        String first = contenders.getFirst().name;
        MarkdownTable table = new MarkdownTable(
                "%d domains".formatted(json.path("domains").asInt()),
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
            Double rate = predicted.get(contender.name);
            JsonNode latencies = contender.json.path("latencies");
            JsonNode scheduled = contender.json.path("scheduled");
            table.row(
                    contender.name,
                    Figures.interval(contender.rate),
                    Figures.whole(latencies.path("p50us").asDouble()),
                    Figures.whole(latencies.path("p999us").asDouble()),
                    Figures.decimals(3, contender.json.path("recall").asDouble()),
                    "%s, %s"
                            .formatted(
                                    Figures.whole(scheduled.path("intraSteals").asDouble()),
                                    Figures.whole(scheduled.path("crossSteals").asDouble())),
                    Figures.whole(scheduled.path("remaps").asDouble()),
                    contender.name.equals(first) ? "" : verdict(contender.ratio),
                    rate == null ? "" : Figures.whole(rate),
                    rate == null ? "" : Figures.ratio(rate / contender.rate.mean()));
        }
        return Block.of(predicted.isEmpty() ? table.toString() : table + "\n\n" + judged(contenders, predicted));
    }

    private static String verdict(Interval ratio) {
        String spread = String.format(Locale.ROOT, "%.3f ± %.3f", ratio.mean(), ratio.halfWidth());
        return ratio.contains(1) ? spread + ": noise exceeds the difference" : spread;
    }

    /** How good the predictions are: their size, and their order where it can be measured. */
    private static String judged(List<Contender> contenders, Map<String, Double> predicted) {
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
                ? "None can be told apart from %s.".formatted(first.name)
                : "Of the %d that can be told apart from %s, it puts %d on the right side of it."
                        .formatted(distinct.size(), first.name, ordered);
        return "The simulator predicts %s to %s of what was measured: %d of %d within 25 %%. %s"
                .formatted(
                        Figures.ratio(shares.getFirst()), Figures.ratio(shares.getLast()), near, shares.size(), order);
    }

    private static double rate(Map<String, Double> predicted, Contender contender) {
        return predicted.getOrDefault(contender.name, Double.NaN);
    }
}
