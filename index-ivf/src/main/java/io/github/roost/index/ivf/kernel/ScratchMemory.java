package io.github.roost.index.ivf.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;

/** Off-heap memory that searches work in. It lives as long as it is reachable. Thread-safe. */
public final class ScratchMemory {
    /** A cache line, and the widest vector. */
    private static final long ALIGNMENT = 64;

    private static final LongAdder ALLOCATIONS = new LongAdder();

    private ScratchMemory() {}

    /** Zeroed memory. */
    public static MemorySegment allocate(long bytes) {
        ALLOCATIONS.increment();
        return Arena.ofAuto().allocate(bytes, ALIGNMENT);
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
