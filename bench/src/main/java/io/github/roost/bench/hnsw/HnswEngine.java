package io.github.roost.bench.hnsw;

import java.io.IOException;
import java.time.Duration;

/** An index over the workload's rows that answers its queries on one or two threads. Not thread-safe. */
interface HnswEngine extends AutoCloseable {
    /** Number of threads that every engine builds with, and searches with by default. */
    int THREADS = 2;

    String name();

    /** The build time. */
    Duration buildTime();

    /** Bytes of the index and its vectors, 0 if unknown. */
    long bytes() throws IOException;

    /** Searches for each query once; returns the found ids per query, nearest first. */
    int[][] search(int k, int ef) throws Exception;

    /** Searches for the queries repeatedly for about {@code time}; returns searches per second. */
    double rate(int k, int ef, Duration time) throws Exception;

    @Override
    void close() throws IOException;
}
