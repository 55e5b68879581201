package io.github.roost.core;

import io.github.roost.topology.DomainMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/**
 * Off-heap memory that searches work in, for authors of indexes. It lives as long as it is reachable. The JVM does not count it
 * against {@code -XX:MaxDirectMemorySize}: rows may have used that up, and a table that is full must still be searched.
 * Thread-safe.
 */
public final class ScratchMemory {
    private static final LongAdder ALLOCATIONS = new LongAdder();

    private ScratchMemory() {}

    /**
     * Allocates zeroed memory.
     *
     * @param bytes its size, 1 or more; whole pages lie behind it, so allocate small pieces together
     * @return the memory, aligned to a cache line
     * @throws OutOfMemoryError where the kernel has no such amount of address space
     */
    public static MemorySegment allocate(long bytes) {
        ALLOCATIONS.increment();
        return DomainMemory.allocateUncounted(bytes, Arena.ofAuto());
    }

    /**
     * Memory that has grown to what is wanted.
     *
     * @param segment what there is
     * @param bytes how many bytes are wanted
     * @return the segment, if it has as many bytes; else a larger one, half as large again as what is wanted, without what was in
     *     the segment
     * @throws OutOfMemoryError where the kernel has no such amount of address space
     */
    public static MemorySegment roomFor(MemorySegment segment, long bytes) {
        return segment.byteSize() >= bytes ? segment : allocate(bytes + bytes / 2);
    }

    /**
     * How often memory was allocated in this process: a search that finds its scratch in a {@link ScratchPool} allocates none.
     *
     * @return a count since the start
     */
    public static long allocations() {
        return ALLOCATIONS.sum();
    }
}
