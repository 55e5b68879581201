package io.github.roost.bench.rivals;

import java.io.IOException;

/** An index over the workload's rows that answers its queries on one or two threads. Not thread-safe. */
public interface Engine extends MeasuredEngine, AutoCloseable {
    /** Number of threads that every engine builds with, and searches with by default. */
    int THREADS = 2;

    /** Bytes of the index and its vectors, 0 if unknown. */
    long bytes() throws IOException;

    @Override
    void close() throws IOException;
}
