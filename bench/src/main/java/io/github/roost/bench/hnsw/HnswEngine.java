package io.github.roost.bench.hnsw;

import java.io.IOException;
import java.time.Duration;

/** An index over the bench's rows that answers its queries on one thread or two. Used by one thread. */
interface HnswEngine extends AutoCloseable {
    /** Threads that every engine builds with, and searches with where nothing else is said. */
    int THREADS = 2;

    String name();

    /** How long the build took. */
    Duration buildTime();

    /** Bytes of the index and its vectors, 0 where that is not known. */
    long bytes() throws IOException;

    /** Searches for all queries once; the ids found for each, nearest first. */
    int[][] search(int k, int ef) throws Exception;

    /** Searches for all queries over and over for about this long; searches per second. */
    double rate(int k, int ef, Duration time) throws Exception;

    @Override
    void close() throws IOException;
}
