package io.github.roost.topology.hwloc;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Linux's affinity masks: which CPUs a thread may run on. Thread-safe.
 *
 * <p>The masks are the scheduler's own ({@code sched_getaffinity(2)}), and need no hwloc.
 */
public final class LinuxScheduler {
    private static final int EINVAL = 22;
    /** A mask smaller than the kernel's is refused with EINVAL; no kernel has more CPUs than this. */
    private static final int FIRST_MASK_BYTES = 128;

    private static final int LAST_MASK_BYTES = 1 << 16;

    private static @Nullable LinuxScheduler scheduler;

    private final MethodHandle getAffinity;
    private final MethodHandle setAffinity;
    private final MethodHandle getCpu;

    private LinuxScheduler(NativeFunctions c) {
        FunctionDescriptor affinity = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
        getAffinity = c.link("sched_getaffinity", affinity, Errno.CAPTURED);
        setAffinity = c.link("sched_setaffinity", affinity, Errno.CAPTURED);
        getCpu = c.link("sched_getcpu", FunctionDescriptor.of(JAVA_INT));
    }

    /**
     * The scheduler of this system.
     *
     * @throws NativeUnavailableException where this is not Linux, or native access is denied
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
     * The CPUs that the process may run on: the mask of its first thread, which a JVM's launcher leaves as the process
     * was started. The mask of a pinned thread says nothing about the process.
     */
    public BitSet processMask() {
        return mask(Math.toIntExact(ProcessHandle.current().pid()));
    }

    private BitSet mask(int thread) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Errno.allocate(arena);
            for (int bytes = FIRST_MASK_BYTES; bytes <= LAST_MASK_BYTES; bytes *= 2) {
                MemorySegment mask = arena.allocate(bytes, Long.BYTES);
                int result = (int) getAffinity.invokeExact(state, thread, (long) bytes, mask);
                if (result >= 0) {
                    return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG));
                }
                int errno = Errno.of(state);
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
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Errno.allocate(arena);
            MemorySegment mask = arena.allocateFrom(JAVA_LONG, cpus.toLongArray());
            int result = (int) setAffinity.invokeExact(state, 0, mask.byteSize(), mask);
            return result >= 0 ? 0 : Errno.of(state);
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }

    /** The CPU that the calling thread runs on, or -1 where the system does not say. */
    public int currentCpu() {
        try {
            return (int) getCpu.invokeExact();
        } catch (Throwable thrown) {
            throw NativeFunctions.unexpected(thrown);
        }
    }
}
