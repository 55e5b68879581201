package io.github.roost.bench.stores;

import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.Options;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What was measured, by name and store, a number a round. Not thread-safe. */
final class Figures {
    /** Which of two numbers is better. */
    enum Better {
        LARGER,
        SMALLER,
        NEITHER
    }

    private record Figure(Better better, Map<Contender, List<Double>> rounds) {}

    private final List<Contender> contenders;
    private final Map<String, Figure> figures = new LinkedHashMap<>();

    Figures(List<Contender> contenders) {
        this.contenders = contenders;
    }

    void add(String name, Better better, Contender contender, double value) {
        figures.computeIfAbsent(name, _ -> new Figure(better, new EnumMap<>(Contender.class)))
                .rounds
                .computeIfAbsent(contender, _ -> new ArrayList<>())
                .add(value);
    }

    /** Every number, for JSON. */
    Map<String, Object> all() {
        Map<String, Object> all = new LinkedHashMap<>();
        figures.forEach((name, figure) -> {
            Map<String, Object> rounds = new LinkedHashMap<>();
            figure.rounds.forEach((contender, values) -> rounds.put(Options.name(contender), values));
            all.put(name, rounds);
        });
        return all;
    }

    /** Prints a table: medians with their ranges, and how many times as good Roost is as the best other, in the same round. */
    void print(Consumer<String> line) {
        line.accept("| |"
                + contenders.stream()
                        .map(each -> " " + Options.name(each) + " |")
                        .collect(Collectors.joining()) + " roost, times the best other |");
        line.accept("| --- |" + " ---: |".repeat(contenders.size() + 1));
        figures.forEach((name, figure) -> line.accept("| " + name + " |"
                + contenders.stream()
                        .map(each -> " " + cell(figure.rounds.get(each)) + " |")
                        .collect(Collectors.joining())
                + " " + ratio(figure) + " |"));
    }

    private static String cell(@Nullable List<Double> rounds) {
        if (rounds == null) {
            return "";
        }
        Samples samples = Samples.of(rounds);
        boolean isWhole = rounds.stream().allMatch(value -> value == Math.rint(value));
        String format = isWhole || samples.median() >= 100 ? "%,.0f" : samples.median() < 10 ? "%,.3f" : "%,.1f";
        return rounds.size() == 1 ? format.formatted(samples.median()) : samples.spread(format);
    }

    private static String ratio(Figure figure) {
        List<Double> own = figure.rounds.get(Contender.ROOST);
        Comparator<List<Double>> byMedian =
                Comparator.comparingDouble(rounds -> Samples.of(rounds).median());
        List<Double> best = figure.rounds.entrySet().stream()
                .filter(each -> each.getKey() != Contender.ROOST)
                .map(Map.Entry::getValue)
                .max(figure.better == Better.LARGER ? byMedian : byMedian.reversed())
                .orElse(null);
        if (own == null || best == null || figure.better == Better.NEITHER) {
            return "";
        }
        boolean isRate = figure.better == Better.LARGER;
        return Samples.ratios(isRate ? own : best, isRate ? best : Objects.requireNonNull(own))
                .spread("%.2f");
    }
}
