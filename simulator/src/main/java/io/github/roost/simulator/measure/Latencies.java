package io.github.roost.simulator.measure;

import org.HdrHistogram.Histogram;

/**
 * Percentiles of a run's latencies.
 *
 * @param count number of latencies
 * @param p50us median, in microseconds
 * @param p99us 99th percentile, in microseconds
 * @param p999us 99.9th percentile, in microseconds
 * @param maxUs largest, in microseconds
 */
public record Latencies(long count, double p50us, double p99us, double p999us, double maxUs) {
    /** From a histogram of nanoseconds; all percentiles of an empty one are 0. */
    public static Latencies ofNanos(Histogram nanos) {
        return new Latencies(
                nanos.getTotalCount(),
                micros(nanos.getValueAtPercentile(50)),
                micros(nanos.getValueAtPercentile(99)),
                micros(nanos.getValueAtPercentile(99.9)),
                micros(nanos.getMaxValue()));
    }

    private static double micros(long nanos) {
        return Math.round(nanos / 10.0) / 100.0;
    }
}
