package io.github.roost.io.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The C library's functions that this package calls. None is linked as {@code critical}: {@code io_uring_enter} takes tens of microseconds
 * on a virtual disk, and a critical call would delay every safepoint for as long. Thread-safe if each call is passed memory for its
 * {@code errno} that no other thread uses meanwhile.
 */
final class LinuxCalls {
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO_VALUE = STATE.varHandle(PathElement.groupElement("errno"));

    private static final int PROT_READ_WRITE = 1 | 2;
    private static final int MAP_SHARED_POPULATE = 0x01 | 0x8000;
    private static final int EFD_CLOEXEC = 0x80000;

    private static final List<String> PROCESSORS = List.of("amd64", "aarch64", "riscv64");

    private static @Nullable LinuxCalls calls;

    /** The linked functions, for a test that compares them with the headers. */
    final Map<String, FunctionDescriptor> linked = new HashMap<>();

    /** {@code long syscall(long number, ...)} with six arguments. */
    private final MethodHandle systemCall;

    private final MethodHandle mmap;
    private final MethodHandle munmap;
    private final MethodHandle open;
    private final MethodHandle close;
    private final MethodHandle eventFd;
    private final MethodHandle read;
    private final MethodHandle write;

    private LinuxCalls() throws LinuxException {
        String system = System.getProperty("os.name", "");
        if (!system.toLowerCase(Locale.ROOT).startsWith("linux")) {
            throw new LinuxException("io_uring is Linux's, and this is " + system);
        }
        String processor = System.getProperty("os.arch", "");
        if (!PROCESSORS.contains(processor)) {
            // Flags have other values on some processors.
            throw new LinuxException("io_uring is used on " + PROCESSORS + " alone, and this is " + processor);
        }
        systemCall = link(
                "syscall",
                FunctionDescriptor.of(
                        JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                ERRNO,
                Linker.Option.firstVariadicArg(1));
        mmap = link(
                "mmap",
                FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG),
                ERRNO);
        munmap = link("munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
        open = link(
                "open",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
                ERRNO,
                Linker.Option.firstVariadicArg(2));
        close = link("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        eventFd = link("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT), ERRNO);
        FunctionDescriptor transfer = FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
        read = link("read", transfer, ERRNO);
        write = link("write", transfer, ERRNO);
    }

    @SuppressWarnings("restricted")
    private MethodHandle link(String name, FunctionDescriptor descriptor, Linker.Option... options)
            throws LinuxException {
        Linker linker = Linker.nativeLinker();
        MemorySegment function = linker.defaultLookup().find(name).orElse(null);
        if (function == null) {
            throw new LinuxException("the C library has no function " + name);
        }
        linked.put(name, descriptor);
        try {
            return linker.downcallHandle(function, descriptor, options);
        } catch (IllegalCallerException denied) {
            throw LinuxException.denied(denied);
        }
    }

    /** Returns the process's instance; the first call links the functions. */
    static synchronized LinuxCalls get() throws LinuxException {
        if (calls == null) {
            calls = new LinuxCalls();
        }
        return calls;
    }

    /** Allocates memory for the {@code errno} of calls. */
    static MemorySegment errnoIn(Arena arena) {
        return arena.allocate(STATE);
    }

    private static int errno(MemorySegment state) {
        return (int) ERRNO_VALUE.get(state, 0L);
    }

    /**
     * Makes a system call of up to four arguments; returns its result or its negative {@code errno}. The caller must keep the memory of
     * arguments that are addresses alive until this returns.
     */
    long systemCall(MemorySegment state, long number, long a, long b, long c, long d) {
        try {
            long result = (long) systemCall.invokeExact(state, number, a, b, c, d, 0L, 0L);
            return result < 0 ? -errno(state) : result;
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** Maps memory shared with the kernel; it is unmapped when the arena is closed. */
    @SuppressWarnings("restricted")
    MemorySegment map(MemorySegment state, Arena arena, long bytes, int fd, long offset) throws LinuxException {
        MemorySegment mapped;
        try {
            mapped = (MemorySegment) mmap.invokeExact(
                    state, MemorySegment.NULL, bytes, PROT_READ_WRITE, MAP_SHARED_POPULATE, fd, offset);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
        if (mapped.address() == -1) {
            throw LinuxException.refused("mmap of an I/O ring", errno(state));
        }
        return mapped.reinterpret(bytes, arena, this::unmap);
    }

    private void unmap(MemorySegment mapped) {
        try {
            int ignored = (int) munmap.invokeExact(mapped, mapped.byteSize());
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    int open(String path, int flags, int mode) throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = errnoIn(arena);
            int fd = (int) open.invokeExact(state, arena.allocateFrom(path), flags, mode);
            if (fd < 0) {
                throw LinuxException.refused("open of " + path, errno(state));
            }
            return fd;
        } catch (LinuxException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    void close(int fd) {
        try {
            int ignored = (int) close.invokeExact(fd);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    int eventFd() throws LinuxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = errnoIn(arena);
            int fd = (int) eventFd.invokeExact(state, 0, EFD_CLOEXEC);
            if (fd < 0) {
                throw LinuxException.refused("eventfd", errno(state));
            }
            return fd;
        } catch (LinuxException refused) {
            throw refused;
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** Returns the number of bytes read, or a negative {@code errno}. */
    long read(MemorySegment state, int fd, MemorySegment into) {
        try {
            long bytes = (long) read.invokeExact(state, fd, into, into.byteSize());
            return bytes < 0 ? -errno(state) : bytes;
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** Returns the number of bytes written, or a negative {@code errno}. */
    long write(MemorySegment state, int fd, MemorySegment from) {
        try {
            long bytes = (long) write.invokeExact(state, fd, from, from.byteSize());
            return bytes < 0 ? -errno(state) : bytes;
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** Rethrows an exception of a downcall, which declares {@code Throwable} but throws only unchecked exceptions. */
    private static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException unchecked) {
            return unchecked;
        }
        return new IllegalStateException("a native call failed", thrown);
    }
}
