package io.github.roost.index.hnsw.search;

import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Off-heap memory of a build, freed when the build completes or fails. After a failure workers may still be running a step: closing
 * waits the few microseconds until they leave C, and any later access from Java fails. Thread-safe.
 */
public final class BuildMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();

    /** Allocates zeroed memory, on huge pages if available. */
    public MemorySegment allocate(long bytes) {
        return DomainMemory.allocate(Math.max(1, bytes), arena);
    }

    Arena arena() {
        return arena;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a step in C ends within microseconds, and signals nothing
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
