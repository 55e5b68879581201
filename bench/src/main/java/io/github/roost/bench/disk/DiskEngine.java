package io.github.roost.bench.disk;

import io.github.roost.bench.rivals.MeasuredEngine;
import java.io.IOException;

/** An index on disk over the workload's rows, with codes in memory; its ef is the width of the search. Not thread-safe. */
interface DiskEngine extends MeasuredEngine, AutoCloseable {
    /** Bytes in memory: codes, ids, and cached parts of the index. */
    long memoryBytes();

    @Override
    void close() throws IOException;
}
