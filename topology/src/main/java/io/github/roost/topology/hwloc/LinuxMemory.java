package io.github.roost.topology.hwloc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/** Linux's anonymous mappings and its advice on huge pages. Thread-safe. */
public final class LinuxMemory {
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final int NO_FILE = -1;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_COLLAPSE = 25;
    private static final long HUGE_PAGE = 2L << 20;
    private static final int EINVAL = 22;

    private static @Nullable LinuxMemory memory;

    private final MethodHandle mmap;
    private final MethodHandle munmap;
    private final MethodHandle madvise;

    private LinuxMemory(NativeFunctions c) {
        mmap = c.link(
                "mmap", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
        munmap = c.link("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        madvise = c.link("madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT), Errno.CAPTURED);
    }

    /**
     * The memory of this system.
     *
     * @throws NativeUnavailableException where this is not Linux, or native access is denied
     */
    public static synchronized LinuxMemory open() {
        if (memory == null) {
            memory = new LinuxMemory(NativeFunctions.ofLinux());
        }
        return memory;
    }

    /**
     * Untouched zero pages, aligned to a huge page.
     *
     * @param bytes the size of the result, 1 or more
     * @param arena unmaps it when it closes
     */
    public MemorySegment map(long bytes, Arena arena) {
        MemorySegment mapping = mapPages(Math.addExact(roundUp(bytes), HUGE_PAGE), arena);
        return mapping.asSlice(roundUp(mapping.address()) - mapping.address(), bytes);
    }

    /**
     * Untouched zero pages, of whatever size the kernel gives.
     *
     * @param mapped the size of the result, 1 or more
     * @param arena unmaps it when it closes
     */
    @SuppressWarnings("restricted")
    public MemorySegment mapPages(long mapped, Arena arena) {
        try {
            MemorySegment start = (MemorySegment)
                    mmap.invokeExact(MemorySegment.NULL, mapped, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, NO_FILE, 0L);
            if (start.address() == -1) {
                throw new OutOfMemoryError("the kernel has no " + mapped + " bytes of address space");
            }
            return start.reinterpret(mapped, arena, this::unmap);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private void unmap(MemorySegment mapping) {
        try {
            int ignored = (int) munmap.invokeExact(mapping, mapping.byteSize());
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /**
     * Asks for huge pages on memory that has not been touched.
     *
     * @param mapped what {@link #map} gave
     * @return 0, or the {@code errno} of the refusal
     */
    @SuppressWarnings("restricted")
    public int adviseHugePages(MemorySegment mapped) {
        return advise(mapped.reinterpret(roundUp(mapped.byteSize())), MADV_HUGEPAGE);
    }

    /**
     * Moves the whole huge pages inside a segment onto huge pages now.
     *
     * @return 0, or the {@code errno} of the refusal ({@code EINVAL} too where no whole huge page is inside)
     */
    public int collapse(MemorySegment segment) {
        long skipped = roundUp(segment.address()) - segment.address();
        long bytes = (segment.byteSize() - skipped) / HUGE_PAGE * HUGE_PAGE;
        return bytes <= 0 ? EINVAL : advise(segment.asSlice(skipped, bytes), MADV_COLLAPSE);
    }

    private int advise(MemorySegment pages, int advice) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Errno.allocate(arena);
            int result = (int) madvise.invokeExact(state, pages, pages.byteSize(), advice);
            return result >= 0 ? 0 : Errno.of(state);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private static long roundUp(long bytes) {
        return Math.addExact(bytes, HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    }
}
