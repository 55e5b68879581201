package io.github.roost.bench.rivals;

import java.time.Duration;

/** An index over a workload's rows whose recall and rate of searches can be measured. Not thread-safe. */
public interface MeasuredEngine {
    String name();

    /** The build time. */
    Duration buildTime();

    /** Searches for each query once; returns the found ids per query, nearest first. */
    int[][] search(int k, int ef) throws Exception;

    /** Searches for the queries repeatedly for about {@code time}; returns searches per second. */
    double rate(int k, int ef, Duration time) throws Exception;
}
