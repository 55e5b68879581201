package io.github.roost.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.simulator.measure.Interval;
import io.github.roost.simulator.measure.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats numbers, with their spread, for people. Stateless. */
public final class Numbers {
    private Numbers() {}

    /** For example 1,234,567; empty if the value is not finite. */
    public static String whole(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%,.0f", value) : "";
    }

    /** For example 12.3 %. */
    public static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }

    /** For example 1.23; empty if the value is not finite. */
    public static String ratio(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.2f", value) : "";
    }

    /** A number with the given decimals. */
    static String decimals(int decimals, double value) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** The median, min and max, for example 1,200 (1,100 to 1,300). */
    public static String spread(Samples samples) {
        return "%s (%s to %s)".formatted(whole(samples.median()), whole(samples.least()), whole(samples.most()));
    }

    /** The median, min and max of ratios; empty if the median is NaN. */
    static String ratios(List<Double> values) {
        return ratios(Samples.of(values));
    }

    /** The median, min and max of ratios; empty if the median is NaN. */
    static String ratios(Samples samples) {
        return Double.isNaN(samples.median())
                ? ""
                : "%s (%s to %s)".formatted(ratio(samples.median()), ratio(samples.least()), ratio(samples.most()));
    }

    /** A mean and half the width of its 95 % confidence interval, for example 1,200 ± 30. */
    static String interval(Interval interval) {
        return Double.isFinite(interval.halfWidth())
                ? "%s ± %s".formatted(whole(interval.mean()), whole(interval.halfWidth()))
                : whole(interval.mean());
    }

    /** Parses {@link Samples} from JSON. */
    static Samples samples(JsonNode json) {
        return new Samples(
                json.path("least").asDouble(Double.NaN),
                json.path("median").asDouble(Double.NaN),
                json.path("most").asDouble(Double.NaN));
    }

    /** The numbers of a JSON array. */
    static List<Double> numbers(JsonNode array) {
        List<Double> numbers = new ArrayList<>();
        array.forEach(number -> numbers.add(number.asDouble(Double.NaN)));
        return numbers;
    }

    /** The ratios of two lists, entry by entry. */
    static List<Double> over(List<Double> these, List<Double> others) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(these.size(), others.size()); i++) {
            ratios.add(these.get(i) / others.get(i));
        }
        return ratios;
    }
}
