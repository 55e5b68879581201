package io.github.roost.bench.disk;

import java.io.IOException;
import java.time.Duration;

/** An index on disk over the workload's rows, with codes in memory. Not thread-safe. */
interface DiskEngine extends AutoCloseable {
    String name();

    /** The build time. */
    Duration buildTime();

    /** Bytes in memory: codes, ids, and cached parts of the index. */
    long memoryBytes();

    /** Searches for each query once; returns the found rows per query, nearest first. */
    int[][] search(int k, int width) throws Exception;

    /** Searches for the queries repeatedly for about {@code time}; returns searches per second. */
    double rate(int k, int width, Duration time) throws Exception;

    @Override
    void close() throws IOException;
}
