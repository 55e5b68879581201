package io.github.roost.topology.system;

import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.hwloc.LinuxMemory;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Places off-heap memory on the NUMA nodes of a cache domain, and on huge pages. Thread-safe.
 *
 * <p>Placement is an optimization, so a refusal is a result and never an exception: the memory stays usable.
 */
public final class DomainMemory {
    private static final long CACHE_LINE = 64;

    private DomainMemory() {}

    /**
     * Moves the touched pages of a segment to the NUMA node of a domain, the first node if the domain has several. It
     * sets no memory policy: it uses up no kernel mapping (a process has about 65,000), freed and reallocated memory is not
     * confined to the node, and pages touched later are placed by the thread that touches them. So it suits segments of any
     * number and size.
     *
     * @param segment native memory, of any size; searches may use it meanwhile, and wait for a page that is being moved
     * @param domain a domain of the live machine
     * @return whether the kernel accepted, and if not why; it may have left pages for which the node had no room
     */
    public static MemoryResult migrate(MemorySegment segment, CacheDomain domain) {
        if (!segment.isNative()) {
            return MemoryResult.refused("a segment on the heap cannot be moved to a NUMA node");
        }
        if (domain.numaNodes().isEmpty()) {
            return MemoryResult.refused("the NUMA nodes of domain " + domain.id() + " are not known");
        }
        int node = domain.numaNodes().getFirst();
        try {
            return result(LinuxMemory.open().movePages(segment, node), "to move memory to NUMA node " + node);
        } catch (NativeUnavailableException notHere) {
            return MemoryResult.refused(String.valueOf(notHere.getMessage()));
        }
    }

    /**
     * Allocates zeroed memory and requests huge pages for it before it is first touched, which is when the kernel assigns
     * them. ({@code Arena.allocate} touches the memory by zeroing it, so a later request comes too late.)
     *
     * @param bytes the size, 1 or more; small segments, and an end that would leave most of a huge page unused, are on small pages
     * @param arena frees the memory when it closes
     * @return the memory; the kernel assigns as many huge pages as it has
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     * @throws OutOfMemoryError if the kernel has not enough address space
     */
    public static MemorySegment allocate(long bytes, Arena arena) {
        LinuxMemory memory = memoryFor(bytes);
        if (memory == null) {
            return arena.allocate(bytes, Long.BYTES);
        }
        MemorySegment segment = memory.map(bytes, arena);
        var _ = memory.adviseHugePages(segment);
        return segment;
    }

    /** What maps memory; null where the arena must allocate it. */
    private static @Nullable LinuxMemory memoryFor(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes must be 1 or more, got " + bytes);
        }
        try {
            return LinuxMemory.open();
        } catch (NativeUnavailableException notHere) {
            return null;
        }
    }

    /**
     * Allocates zeroed memory that the JVM does not count against {@code -XX:MaxDirectMemorySize}, unlike memory from {@code
     * Arena.ofAuto()}: for allocations that must succeed even if that limit is used up. On systems other than Linux, and if
     * native access is denied, the arena allocates the memory.
     *
     * @param bytes the size, 1 or more; the memory is whole pages, so this does not suit a few bytes
     * @param arena frees the memory when it closes
     * @return the memory, aligned to a page, or to a cache line if the arena allocated it
     * @throws IllegalArgumentException if {@code bytes} is less than 1
     * @throws OutOfMemoryError if the kernel has not enough address space
     */
    public static MemorySegment allocateUncounted(long bytes, Arena arena) {
        LinuxMemory memory = memoryFor(bytes);
        return memory == null ? arena.allocate(bytes, CACHE_LINE) : memory.mapPages(bytes, arena);
    }

    /**
     * Returns unused memory to the kernel before its arena closes: {@code Arena.ofAuto()} does so only after a garbage
     * collection. The segment stays accessible, and its whole pages read as zeros; a segment mapped from a file is detached
     * from the file.
     *
     * @param segment native memory of any size, or a whole mapping of a file
     * @return whether the kernel accepted, and if not why
     */
    public static MemoryResult release(MemorySegment segment) {
        if (!segment.isNative()) {
            return MemoryResult.refused("a segment on the heap is given back by the garbage collector");
        }
        try {
            LinuxMemory memory = LinuxMemory.open();
            return result(segment.isMapped() ? memory.detach(segment) : memory.discard(segment), "to take memory back");
        } catch (NativeUnavailableException notHere) {
            return MemoryResult.refused(String.valueOf(notHere.getMessage()));
        }
    }

    private static MemoryResult result(int errno, String what) {
        return errno == 0
                ? MemoryResult.accepted()
                : MemoryResult.refused("the kernel refused " + what + ", errno " + errno);
    }
}
