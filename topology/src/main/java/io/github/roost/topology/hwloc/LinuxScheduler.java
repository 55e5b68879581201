package io.github.roost.topology.hwloc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Linux's scheduler: the affinity mask, time slice and policy of a thread. Thread-safe.
 *
 * <p>The masks come from {@code sched_getaffinity(2)} and need no hwloc.
 */
public final class LinuxScheduler {
    private static final int EINVAL = 22;
    /** The kernel refuses a mask smaller than its own with EINVAL; the size is then doubled, up to {@link #LAST_MASK_BYTES}. */
    private static final int FIRST_MASK_BYTES = 128;

    private static final int LAST_MASK_BYTES = 1 << 16;

    /** The size of the first version of {@code struct sched_attr}, a thread's scheduling attributes without its mask. */
    private static final int ATTRIBUTES_BYTES = 48;

    private static final int POLICY_OFFSET = 4;
    private static final int RUNTIME_OFFSET = 24;
    private static final int SCHED_OTHER = 0;
    private static final int SCHED_BATCH = 3;
    /** The policy of threads that run only while no other thread wants their CPU. */
    private static final int SCHED_IDLE = 5;
    /** The policies whose threads have time slices. */
    private static final Set<Integer> FAIR = Set.of(SCHED_OTHER, SCHED_BATCH);

    private static @Nullable LinuxScheduler scheduler;

    private final MethodHandle getAffinity;
    private final MethodHandle setAffinity;
    private final MethodHandle getCpu;
    private final MethodHandle setPolicy;
    final @Nullable Attributes attributes;

    LinuxScheduler(NativeFunctions c) {
        FunctionDescriptor affinity = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
        getAffinity = c.link("sched_getaffinity", affinity, CapturedErrno.CAPTURED);
        setAffinity = c.link("sched_setaffinity", affinity, CapturedErrno.CAPTURED);
        // It only reads memory and returns, so the call needs no thread state transition.
        getCpu = c.link("sched_getcpu", FunctionDescriptor.of(JAVA_INT), Linker.Option.critical(false));
        setPolicy = c.link("sched_setscheduler", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
        attributes = Attributes.of(c);
    }

    /**
     * The scheduler of this system.
     *
     * @throws NativeUnavailableException if this is not Linux, or native access is denied
     */
    public static synchronized LinuxScheduler open() {
        if (scheduler == null) {
            scheduler = new LinuxScheduler(NativeFunctions.ofLinux());
        }
        return scheduler;
    }

    /** The CPUs that the calling thread may run on. */
    public BitSet threadMask() {
        return mask(0);
    }

    /**
     * The CPUs that the process may run on: the mask of its first thread, which the JVM's launcher does not change. The
     * mask of a pinned thread says nothing about the process.
     */
    public BitSet processMask() {
        return mask(Math.toIntExact(ProcessHandle.current().pid()));
    }

    private BitSet mask(int thread) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = CapturedErrno.allocate(arena);
            for (int bytes = FIRST_MASK_BYTES; bytes <= LAST_MASK_BYTES; bytes *= 2) {
                MemorySegment mask = arena.allocate(bytes, Long.BYTES);
                int result = (int) getAffinity.invokeExact(state, thread, (long) bytes, mask);
                if (result >= 0) {
                    return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG));
                }
                int errno = CapturedErrno.of(state);
                if (errno != EINVAL) {
                    throw new IllegalStateException("the kernel refused to read an affinity mask, errno " + errno);
                }
            }
            throw new IllegalStateException("the kernel's affinity mask is larger than " + LAST_MASK_BYTES + " bytes");
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /**
     * Binds the calling thread.
     *
     * @param cpus OS numbers of the CPUs that it may run on, not empty
     * @return 0, or the {@code errno} of the refusal
     */
    public int bindThread(BitSet cpus) {
        return bindThread(0, cpus);
    }

    /**
     * Binds a thread of this process.
     *
     * @param thread its id in the operating system, 0 for the calling thread
     * @param cpus OS numbers of the CPUs that it may run on, not empty
     * @return 0, or the {@code errno} of the refusal
     */
    public int bindThread(int thread, BitSet cpus) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = CapturedErrno.allocate(arena);
            MemorySegment mask = arena.allocateFrom(JAVA_LONG, cpus.toLongArray());
            int result = (int) setAffinity.invokeExact(state, thread, mask.byteSize(), mask);
            return result >= 0 ? 0 : CapturedErrno.of(state);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The calling thread's time slice in nanoseconds, or 0 if the kernel reports none for it. */
    public long timeSlice() {
        return timeSlice(0);
    }

    /**
     * The default time slice of the process's threads in nanoseconds, or 0 if the kernel reports none: the slice of its
     * first thread, which the JVM's launcher does not change.
     */
    public long processTimeSlice() {
        return timeSlice(ProcessHandle.current().pid());
    }

    private long timeSlice(long thread) {
        if (attributes == null) {
            return 0;
        }
        try (Arena arena = Arena.ofConfined()) {
            return attributes.read(arena, thread).get(JAVA_LONG, RUNTIME_OFFSET);
        }
    }

    /**
     * Changes the calling thread's time slice, if it has one.
     *
     * @param nanos the slice in nanoseconds; the kernel clamps it to 0.1 ms to 100 ms
     * @return whether the kernel accepted it
     */
    public boolean setTimeSlice(long nanos) {
        if (attributes == null) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment read = attributes.read(arena, 0);
            if (read.get(JAVA_LONG, RUNTIME_OFFSET) == 0) {
                return false;
            }
            read.set(JAVA_LONG, RUNTIME_OFFSET, nanos);
            return attributes.write(read);
        }
    }

    /** Gives the calling thread the policy {@code SCHED_IDLE}; false if the kernel refuses. */
    public boolean setIdle() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment noPriority = arena.allocateFrom(JAVA_INT, 0);
            return (int) setPolicy.invokeExact(0, SCHED_IDLE, noPriority) == 0;
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The CPU that the calling thread runs on, or -1 if the system does not say. */
    public int currentCpu() {
        try {
            return (int) getCpu.invokeExact();
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The system calls that read and write a thread's attributes; C libraries older than 2025 have no functions for them. */
    record Attributes(MethodHandle systemCall, long get, long set) {
        /** Null on processor architectures whose system call numbers are not listed here. */
        static @Nullable Attributes of(NativeFunctions c) {
            if (!c.has("syscall")) {
                return null;
            }
            MethodHandle systemCall = c.link(
                    "syscall",
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
            return switch (System.getProperty("os.arch", "")) {
                case "amd64" -> new Attributes(systemCall, 315, 314);
                case "aarch64", "riscv64" -> new Attributes(systemCall, 275, 274);
                default -> null;
            };
        }

        /** The attributes of a thread, 0 for the caller; the slice is 0 if the kernel refuses or the thread's policy has none. */
        MemorySegment read(Arena arena, long thread) {
            MemorySegment into = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
            if (call(get, thread, into, ATTRIBUTES_BYTES, 0) < 0 || !FAIR.contains(into.get(JAVA_INT, POLICY_OFFSET))) {
                into.set(JAVA_LONG, RUNTIME_OFFSET, 0);
            }
            return into;
        }

        boolean write(MemorySegment from) {
            return call(set, 0, from, 0, 0) >= 0;
        }

        private long call(long number, long thread, MemorySegment memory, long third, long fourth) {
            try {
                return (long) systemCall.invokeExact(number, thread, memory, third, fourth);
            } catch (Throwable thrown) {
                throw NativeFunctions.unexpected(thrown);
            }
        }
    }
}
