package io.github.roost.simulator.measure;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The spread of repeated measurements.
 *
 * @param least the min
 * @param median the median; for an even number the mean of the two middle values
 * @param most the max
 */
public record Samples(double least, double median, double most) {
    /**
     * Computes the min, median and max of some measurements.
     *
     * @param values at least one
     */
    public static Samples of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one sample, got none");
        }
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Samples(
                sorted[0],
                (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2,
                sorted[sorted.length - 1]);
    }

    /** The ratios of values to others of the same round: a temporary slowdown of the machine affects both. */
    public static Samples ratios(List<Double> values, List<Double> baseline) {
        return ratios(values, baseline, Double::doubleValue);
    }

    /** The ratios of a figure of each round to that of another measurement of the same round. */
    public static <T> Samples ratios(List<T> rounds, List<T> baseline, ToDoubleFunction<T> figure) {
        return of(IntStream.range(0, rounds.size())
                .mapToObj(round -> figure.applyAsDouble(rounds.get(round)) / figure.applyAsDouble(baseline.get(round)))
                .toList());
    }

    /** The median, and in parentheses the min and max, each in a format such as {@code %.2f}. */
    public String spread(String format) {
        return String.format(Locale.ROOT, format + " (" + format + " to " + format + ")", median, least, most);
    }
}
