package io.github.roost.bench.io;

import java.io.IOException;
import java.time.Duration;

/** One way to read random blocks, kept at a depth: so many reads are under way at any time. */
interface Reader extends AutoCloseable {
    /**
     * What a reader did.
     *
     * @param reads blocks read
     * @param freeNanos time of its thread that other work has used meanwhile; 0 where there was none
     */
    record Done(long reads, long freeNanos) {}

    /** Reads for a time. */
    Done read(Duration time) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
