package io.github.roost.simulator.measure;

import java.util.Collection;

/**
 * The 95 % confidence interval of the mean of repeated measurements (Student, Biometrika 6(1), 1908).
 *
 * @param mean of the measurements
 * @param halfWidth max distance of the true mean from it; infinite for a single measurement
 */
public record Interval(double mean, double halfWidth) {
    /** Student's t for 97.5 %, by degrees of freedom from 1; above that the value of the normal distribution. */
    private static final double[] T = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042
    };

    private static final double NORMAL = 1.96;

    /**
     * Computes the interval of the mean of some measurements.
     *
     * @param values at least one
     */
    public static Interval of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one measurement, got none");
        }
        int count = values.size();
        double mean = values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        if (count == 1) {
            return new Interval(mean, Double.POSITIVE_INFINITY);
        }
        double squares = values.stream()
                .mapToDouble(value -> (value - mean) * (value - mean))
                .sum();
        double t = count - 1 <= T.length ? T[count - 2] : NORMAL;
        return new Interval(mean, t * Math.sqrt(squares / (count - 1) / count));
    }

    /** Whether the value lies in the interval. */
    public boolean contains(double value) {
        return Math.abs(value - mean) <= halfWidth;
    }
}
