package io.github.roost.bench.disk;

import java.io.IOException;
import java.time.Duration;

/** An index on disk over the bench's rows, of which codes are in memory. Used by one thread. */
interface DiskEngine extends AutoCloseable {
    String name();

    /** How long the build took. */
    Duration buildTime();

    /** Bytes that stay in memory: codes, ids, and whatever of the index is cached. */
    long memoryBytes();

    /** Searches for all queries once; the rows found for each, nearest first. */
    int[][] search(int k, int width) throws Exception;

    /** Searches for all queries over and over for about this long; searches per second. */
    double rate(int k, int width, Duration time) throws Exception;

    @Override
    void close() throws IOException;
}
