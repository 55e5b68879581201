package io.github.roost.bench.io;

import java.io.IOException;
import java.time.Duration;

/** A way to read random blocks, with a fixed number of reads in flight. */
interface Reader extends AutoCloseable {
    /**
     * The result of a read.
     *
     * @param reads blocks read
     * @param freeNanos time of its thread used by other work; 0 if there was none
     */
    record Done(long reads, long freeNanos) {}

    /** Reads for a time. */
    Done read(Duration time) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
