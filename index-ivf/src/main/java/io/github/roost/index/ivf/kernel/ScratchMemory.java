package io.github.roost.index.ivf.kernel;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/**
 * Off-heap memory that searches work in. It lives as long as it is reachable. Not counted against {@code
 * -XX:MaxDirectMemorySize}: rows may have used that up, and a table that is full must still be searched. Thread-safe.
 */
public final class ScratchMemory {
    private static final LongAdder ALLOCATIONS = new LongAdder();

    private ScratchMemory() {}

    /** Zeroed memory, aligned to a cache line; of whole pages, so what is small is best allocated together. */
    public static MemorySegment allocate(long bytes) {
        ALLOCATIONS.increment();
        return DomainMemory.allocateUncounted(bytes, Arena.ofAuto());
    }

    /** The segment, if it has so many bytes; else a larger one, with something to spare. What was in it is lost then. */
    public static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : allocate(bytes + bytes / 2);
    }

    /** How often memory was allocated: a search that finds a scratch in the pool does not. */
    public static long allocations() {
        return ALLOCATIONS.sum();
    }
}
