package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.bench.Interval;
import io.github.roost.bench.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Numbers as people read them, with their spread. Stateless. */
final class Figures {
    private Figures() {}

    /** 1,234,567. */
    static String whole(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%,.0f", value) : "";
    }

    /** 12.3 %. */
    static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /** 1.23, nothing where there is no such ratio. */
    static String ratio(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.2f", value) : "";
    }

    /** A number with so many decimals. */
    static String decimals(int decimals, double value) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** 1,200 (1,100 to 1,300): the median, the least and the most. */
    static String spread(Samples samples) {
        return "%s (%s to %s)".formatted(whole(samples.median()), whole(samples.least()), whole(samples.most()));
    }

    /** The same of ratios. */
    static String ratios(List<Double> values) {
        return ratios(Samples.of(values));
    }

    /** The same of ratios. */
    static String ratios(Samples samples) {
        return Double.isNaN(samples.median())
                ? ""
                : "%s (%s to %s)".formatted(ratio(samples.median()), ratio(samples.least()), ratio(samples.most()));
    }

    /** 1,200 ± 30: a mean and how far it may be off with 95 % confidence. */
    static String interval(Interval interval) {
        return Double.isFinite(interval.halfWidth())
                ? "%s ± %s".formatted(whole(interval.mean()), whole(interval.halfWidth()))
                : whole(interval.mean());
    }

    /** What {@link Samples} are as JSON. */
    static Samples samples(JsonNode json) {
        return new Samples(
                json.path("least").asDouble(Double.NaN),
                json.path("median").asDouble(Double.NaN),
                json.path("most").asDouble(Double.NaN));
    }

    /** Numbers of a JSON array. */
    static List<Double> numbers(JsonNode array) {
        List<Double> numbers = new ArrayList<>();
        array.forEach(number -> numbers.add(number.asDouble(Double.NaN)));
        return numbers;
    }

    /** One list over another, entry by entry. */
    static List<Double> over(List<Double> these, List<Double> others) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(these.size(), others.size()); i++) {
            ratios.add(these.get(i) / others.get(i));
        }
        return ratios;
    }
}
