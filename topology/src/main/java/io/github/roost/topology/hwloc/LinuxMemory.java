package io.github.roost.topology.hwloc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Linux's anonymous mappings, huge page advice and page migration between NUMA nodes. Thread-safe. */
public final class LinuxMemory {
    private static final int PROT_READ = 1;
    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MADV_DONTNEED = 4;
    private static final int NO_FILE = -1;
    private static final int MADV_HUGEPAGE = 14;
    private static final long HUGE_PAGE = 2L << 20;
    /** The part of its size that a mapping may take more, to be all on huge pages. */
    private static final int UNUSED_SHARE = 8;

    private static final int EINVAL = 22;
    private static final int ENOSYS = 38;
    private static final int MPOL_MF_MOVE = 2;
    private static final long THIS_PROCESS = 0;
    /** The smallest page size of Linux on any processor. A larger page is listed several times, and moved once. */
    private static final long PAGE = 4_096;
    /** The maximum number of pages per system call, so that its arrays stay small. */
    private static final int PAGES_PER_CALL = 1_024;

    private static @Nullable LinuxMemory memory;

    private final MethodHandle mmap;
    private final Consumer<MemorySegment> unmap;
    private final MethodHandle madvise;
    private final long pageBytes;
    final @Nullable MovePages movePages;

    LinuxMemory(NativeFunctions c) {
        mmap = c.link(
                "mmap", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
        unmap = unmapper(c.link("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG)));
        madvise = c.link(
                "madvise", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT), CapturedErrno.CAPTURED);
        movePages = MovePages.of(c);
        pageBytes = pageBytes(c.link("getpagesize", FunctionDescriptor.of(JAVA_INT)));
    }

    /**
     * Makes the cleanup of a mapping. The JDK's cleaner keeps it until the mapping is unreachable, so it must not refer to a class of Roost: it
     * would keep the class loader, that its static pools of mappings, and these would stay mapped after a reload.
     */
    @SuppressWarnings("unchecked")
    private static Consumer<MemorySegment> unmapper(MethodHandle munmap) {
        try {
            MethodHandle byteSize = MethodHandles.publicLookup()
                    .findVirtual(MemorySegment.class, "byteSize", MethodType.methodType(long.class));
            MethodHandle ofWhole = MethodHandles.permuteArguments(
                    MethodHandles.filterArguments(munmap, 1, byteSize),
                    MethodType.methodType(int.class, MemorySegment.class),
                    0,
                    0);
            return MethodHandleProxies.asInterfaceInstance(Consumer.class, ofWhole);
        } catch (ReflectiveOperationException never) {
            throw new ExceptionInInitializerError(never);
        }
    }

    private static long pageBytes(MethodHandle getpagesize) {
        try {
            return (int) getpagesize.invokeExact();
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The system call {@code move_pages}; the C library has no function for it. */
    record MovePages(MethodHandle systemCall, long number) {
        /** Null on processor architectures whose system call numbers are not listed here. */
        static @Nullable MovePages of(NativeFunctions c) {
            if (!c.has("syscall")) {
                return null;
            }
            MethodHandle systemCall = c.link(
                    "syscall",
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG),
                    CapturedErrno.CAPTURED,
                    Linker.Option.firstVariadicArg(1));
            return switch (System.getProperty("os.arch", "")) {
                case "amd64" -> new MovePages(systemCall, 279);
                case "aarch64", "riscv64" -> new MovePages(systemCall, 239);
                default -> null;
            };
        }

        /** {@return 0, or the {@code errno} of the refusal} */
        int move(MemorySegment addresses, MemorySegment nodes, MemorySegment status, long pages, Arena arena)
                throws Throwable {
            MemorySegment state = CapturedErrno.allocate(arena);
            long result = (long) systemCall.invokeExact(
                    state, number, THIS_PROCESS, pages, addresses, nodes, status, (long) MPOL_MF_MOVE);
            return result >= 0 ? 0 : CapturedErrno.of(state);
        }
    }

    /**
     * The memory functions of this system.
     *
     * @throws NativeUnavailableException if this is not Linux, or native access is denied
     */
    public static synchronized LinuxMemory open() {
        if (memory == null) {
            memory = new LinuxMemory(NativeFunctions.ofLinux());
        }
        return memory;
    }

    /**
     * Maps zeroed memory whose pages have not been touched, aligned to a huge page.
     *
     * @param bytes the size of the result, 1 or more
     * @param arena unmaps the memory when it closes
     */
    public MemorySegment map(long bytes, Arena arena) {
        if (bytes > Long.MAX_VALUE - 2 * HUGE_PAGE) {
            throw new OutOfMemoryError("the kernel has no " + bytes + " bytes of address space");
        }
        MemorySegment mapping = mapPages(Math.addExact(roundUp(bytes), HUGE_PAGE), arena);
        return mapping.asSlice(roundUp(mapping.address()) - mapping.address(), bytes);
    }

    /**
     * Maps zeroed memory whose pages have not been touched, aligned to a page.
     *
     * @param mapped the size of the result in bytes, 1 or more
     * @param arena unmaps the memory when it closes
     */
    @SuppressWarnings("restricted")
    public MemorySegment mapPages(long mapped, Arena arena) {
        try {
            MemorySegment start = (MemorySegment)
                    mmap.invokeExact(MemorySegment.NULL, mapped, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, NO_FILE, 0L);
            if (start.address() == -1) {
                throw new OutOfMemoryError("the kernel has no " + mapped + " bytes of address space");
            }
            try {
                return start.reinterpret(mapped, arena, unmap);
            } catch (RuntimeException closed) {
                unmap.accept(start.reinterpret(mapped));
                throw closed;
            }
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /**
     * Asks for huge pages on memory that has not been touched. If the last one would be mostly unused, as in a small table of which there may
     * be thousands, the end stays on small pages.
     *
     * @param mapped a segment from {@link #map}
     * @return 0, or the {@code errno} of the refusal
     */
    @SuppressWarnings("restricted")
    public int adviseHugePages(MemorySegment mapped) {
        long bytes = mapped.byteSize();
        long all = roundUp(bytes);
        long advised = all - bytes <= bytes / UNUSED_SHARE ? all : all - HUGE_PAGE;
        return advised == 0 ? 0 : advise(mapped.reinterpret(advised), MADV_HUGEPAGE);
    }

    /**
     * Moves the pages that a segment overlaps to a NUMA node now, except pages that have not been touched and pages that the
     * kernel cannot move, for example because the node is full. The placement of pages touched later does not change.
     *
     * @return 0, or the {@code errno} of the refusal
     */
    public int movePages(MemorySegment segment, int node) {
        if (movePages == null) {
            return ENOSYS;
        }
        long first = segment.address() / PAGE * PAGE;
        long pages = (segment.address() + segment.byteSize() - first + PAGE - 1) / PAGE;
        int max = (int) Math.min(pages, PAGES_PER_CALL);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment addresses = arena.allocate(JAVA_LONG, max);
            MemorySegment nodes = arena.allocate(JAVA_INT, max);
            MemorySegment status = arena.allocate(JAVA_INT, max);
            for (int i = 0; i < max; i++) {
                nodes.setAtIndex(JAVA_INT, i, node);
            }
            int errno = 0;
            for (long from = 0; from < pages && errno == 0; from += max) {
                long count = Math.min(max, pages - from);
                for (long i = 0; i < count; i++) {
                    addresses.setAtIndex(JAVA_LONG, i, first + (from + i) * PAGE);
                }
                errno = movePages.move(addresses, nodes, status, count, arena);
            }
            return errno;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /**
     * Returns the pages that lie wholly inside a segment to the kernel; they read as zeros from then on.
     *
     * @return 0, or the {@code errno} of the refusal
     */
    public int discard(MemorySegment segment) {
        long skipped = Math.min(segment.byteSize(), -segment.address() & (pageBytes - 1));
        long bytes = (segment.byteSize() - skipped) / pageBytes * pageBytes;
        return bytes == 0 ? 0 : advise(segment.asSlice(skipped, bytes), MADV_DONTNEED);
    }

    /**
     * Replaces the pages of a mapped file with zero pages. Later reads see zeros, even past the end of a truncated file.
     *
     * @param mapped a whole mapping of a file
     * @return 0, or {@code EINVAL} if the kernel refused
     */
    public int detach(MemorySegment mapped) {
        long first = mapped.address() & -pageBytes;
        long bytes = mapped.address() + mapped.byteSize() - first;
        try {
            MemorySegment start = (MemorySegment) mmap.invokeExact(
                    MemorySegment.ofAddress(first),
                    bytes,
                    PROT_READ,
                    MAP_PRIVATE_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                    NO_FILE,
                    0L);
            return start.address() == -1 ? EINVAL : 0;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private int advise(MemorySegment pages, int advice) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = CapturedErrno.allocate(arena);
            int result = (int) madvise.invokeExact(state, pages, pages.byteSize(), advice);
            return result >= 0 ? 0 : CapturedErrno.of(state);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    private static long roundUp(long bytes) {
        return Math.addExact(bytes, HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    }
}
