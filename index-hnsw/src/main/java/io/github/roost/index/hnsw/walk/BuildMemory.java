package io.github.roost.index.hnsw.walk;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that a build needs until it is done or fails. Where it fails, workers may still be in a piece of it: closing waits the
 * microseconds until they are out of C, and what they do in Java afterwards fails. Thread-safe.
 */
public final class BuildMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();

    /** Zeroed memory, on huge pages where there are any. */
    public MemorySegment allocate(long bytes) {
        return DomainMemory.allocate(Math.max(1, bytes), arena).segment();
    }

    Arena arena() {
        return arena;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a piece in C ends within microseconds, and tells nobody
    public void close() {
        while (arena.scope().isAlive()) {
            try {
                arena.close();
            } catch (IllegalStateException inUse) {
                Thread.yield();
            }
        }
    }
}
