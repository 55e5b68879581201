package io.github.roost.bench.hnsw;

import java.io.IOException;
import java.time.Duration;

/** An index over the bench's rows that answers its queries on two threads. Used by one thread. */
interface HnswEngine extends AutoCloseable {
    /** Threads that every engine builds and searches with. */
    int THREADS = 2;

    String name();

    /** How long the build took. */
    Duration buildTime();

    /** Searches for all queries once; the ids found for each, nearest first. */
    int[][] search(int k, int ef) throws Exception;

    /** Searches for all queries over and over for about this long; searches a second. */
    double rate(int k, int ef, Duration time) throws Exception;

    @Override
    void close() throws IOException;
}
