package io.github.roost.topology;

import io.github.roost.topology.hwloc.HwlocException;
import io.github.roost.topology.hwloc.HwlocTopology;
import io.github.roost.topology.hwloc.LinuxMemory;
import io.github.roost.topology.hwloc.NativeUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Places off-heap memory: next to a cache domain, and on huge pages. Thread-safe.
 *
 * <p>Everything here is an optimisation, so a refusal is a result and never an exception: the memory stays usable.
 */
public final class DomainMemory {
    private static final long CACHE_LINE = 64;

    private DomainMemory() {}

    /**
     * Binds a segment to the NUMA nodes of a domain; pages that are elsewhere already are migrated. The kernel binds
     * whole pages, so those that the segment shares at its ends go along.
     *
     * @param segment native memory, of any size
     * @param domain a domain of the live machine
     * @return whether the kernel did, and if not why
     */
    public static MemoryResult bind(MemorySegment segment, CacheDomain domain) {
        if (!segment.isNative()) {
            return MemoryResult.refused("a segment on the heap cannot be bound to a NUMA node");
        }
        if (domain.numaNodes().isEmpty()) {
            return MemoryResult.refused("the NUMA nodes of domain " + domain.id() + " are not known");
        }
        try (HwlocTopology live = HwlocTopology.live()) {
            if (!live.isThisSystem()) {
                return MemoryResult.refused("hwloc's environment variables put another machine in this one's place");
            }
            int errno = live.bindMemory(segment, CpuSet.of(domain.numaNodes()));
            return result(errno, "to bind memory to NUMA nodes " + CpuSet.text(domain.numaNodes()));
        } catch (HwlocException | NativeUnavailableException unavailable) {
            return MemoryResult.refused(String.valueOf(unavailable.getMessage()));
        }
    }

    /**
     * Moves the pages of a segment that have been touched to the NUMA node of a domain, its first where it has several.
     * Unlike {@link #bind} it leaves no policy behind: it costs no mapping of its own (a process has some 65,000), memory that is
     * freed and given out again is not confined to the node, and pages that are touched later lie wherever they are touched
     * from. So it is for segments of any number and size.
     *
     * @param segment native memory, of any size; searches may use it meanwhile, and wait for a page that is being moved
     * @param domain a domain of the live machine
     * @return whether the kernel did, and if not why; it may have left pages for which there was no room on the node
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
     * Allocates zeroed memory that asks for huge pages before it is first touched, which is when the kernel gives them.
     * ({@code Arena.allocate} touches the memory by zeroing it, so asking afterwards is too late.)
     *
     * @param bytes its size, 1 or more; the memory behind it is rounded up to whole huge pages, so this is for segments of
     *     many megabytes
     * @param arena frees the memory when it closes
     * @return the memory, and whether huge pages were asked for
     * @throws IllegalArgumentException where {@code bytes} is less than 1
     * @throws OutOfMemoryError where the kernel has no such amount of address space
     */
    public static HugeSegment allocate(long bytes, Arena arena) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes must be 1 or more, got " + bytes);
        }
        LinuxMemory memory;
        try {
            memory = LinuxMemory.open();
        } catch (NativeUnavailableException notHere) {
            MemoryResult refused = MemoryResult.refused(String.valueOf(notHere.getMessage()));
            return new HugeSegment(arena.allocate(bytes, Long.BYTES), refused);
        }
        MemorySegment segment = memory.map(bytes, arena);
        return new HugeSegment(segment, result(memory.adviseHugePages(segment), "huge pages"));
    }

    /**
     * Allocates zeroed memory that the JVM does not count against {@code -XX:MaxDirectMemorySize}, as it does what {@code
     * Arena.ofAuto()} allocates: for what must be there also where others have used that up. On systems other than Linux,
     * and where native access is denied, it is the arena's own memory.
     *
     * @param bytes its size, 1 or more; the memory behind it is whole pages, so this is not for a few bytes
     * @param arena frees the memory when it closes
     * @return the memory, aligned to a page, or to a cache line where it is the arena's
     * @throws IllegalArgumentException where {@code bytes} is less than 1
     * @throws OutOfMemoryError where the kernel has no such amount of address space
     */
    public static MemorySegment allocateUncounted(long bytes, Arena arena) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes must be 1 or more, got " + bytes);
        }
        LinuxMemory memory;
        try {
            memory = LinuxMemory.open();
        } catch (NativeUnavailableException notHere) {
            return arena.allocate(bytes, CACHE_LINE);
        }
        return memory.mapPages(bytes, arena);
    }

    /**
     * Moves memory that is in use onto huge pages now, copying it ({@code MADV_COLLAPSE}, Linux 6.1 and newer).
     *
     * @param segment native memory; only the whole huge pages (2 MiB on x86) inside it move
     * @return whether the kernel did, and if not why
     */
    public static MemoryResult collapse(MemorySegment segment) {
        if (!segment.isNative()) {
            return MemoryResult.refused("a segment on the heap cannot be moved onto huge pages");
        }
        try {
            return result(LinuxMemory.open().collapse(segment), "to collapse memory into huge pages");
        } catch (NativeUnavailableException notHere) {
            return MemoryResult.refused(String.valueOf(notHere.getMessage()));
        }
    }

    /**
     * Gives memory back that nobody reads any more, before its arena closes: an arena of {@code Arena.ofAuto()} does that only
     * after a garbage collection. The segment stays as it is, and reads as zeros, where it lies in whole pages; one that was
     * mapped from a file lets go of the file.
     *
     * @param segment native memory of any size, or the whole of a mapping of a file
     * @return whether the kernel did, and if not why
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

    /**
     * An allocation.
     *
     * @param segment the memory, zeroed, of exactly the size asked for
     * @param hugePages whether the kernel accepted the request for huge pages; it gives them as far as it has any
     */
    public record HugeSegment(MemorySegment segment, MemoryResult hugePages) {}
}
