package io.github.roost.vector.memory;

import io.github.roost.topology.system.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/**
 * Allocates off-heap scratch memory of searches. The garbage collector frees it when it is unreachable. It does not
 * count against {@code -XX:MaxDirectMemorySize}: rows may have used that up, and a full table must still be searchable. Thread-safe.
 */
public final class ScratchMemory {
    private static final LongAdder ALLOCATIONS = new LongAdder();

    private ScratchMemory() {}

    /**
     * Allocates zeroed memory.
     *
     * @param bytes the size, at least 1; it is rounded up to whole pages, so allocate small pieces together
     * @return a segment aligned to a cache line
     * @throws OutOfMemoryError if the kernel cannot reserve the address space
     */
    public static MemorySegment allocate(long bytes) {
        ALLOCATIONS.increment();
        return DomainMemory.allocateUncounted(bytes, Arena.ofAuto());
    }

    /**
     * Returns a segment of at least a given size.
     *
     * @param segment the present segment
     * @param bytes the required size
     * @return {@code segment}, if it is large enough; otherwise a new, zeroed segment of 1.5 times the required size
     * @throws OutOfMemoryError if the kernel cannot reserve the address space
     */
    public static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : allocate(bytes + bytes / 2);
    }

    /**
     * Returns the number of allocations in this process. A search that takes its scratch from a {@link io.github.roost.vector.spi.ScratchPool} does not allocate.
     *
     * @return the count since the process started
     */
    public static long allocations() {
        return ALLOCATIONS.sum();
    }
}
