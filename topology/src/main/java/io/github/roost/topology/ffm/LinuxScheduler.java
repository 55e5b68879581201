package io.github.roost.topology.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.Optional;

/** The affinity calls of the C library on Linux: which CPUs a thread may run on. Thread-safe. */
public final class LinuxScheduler {
    /** Room for 8,192 CPUs, the most that a Linux kernel can be built for. */
    private static final int MASK_BYTES = 1024;

    private static final StructLayout ERRNO_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = ERRNO_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final Optional<LinuxScheduler> INSTANCE = load();

    private final MethodHandle getAffinity;
    private final MethodHandle setAffinity;
    private final MethodHandle getCpu;
    private final MethodHandle getTid;

    private LinuxScheduler(Bindings libc) {
        Linker.Option errno = Linker.Option.captureCallState("errno");
        FunctionDescriptor affinity = FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
        this.getAffinity = libc.bind("sched_getaffinity", affinity, errno);
        this.setAffinity = libc.bind("sched_setaffinity", affinity, errno);
        this.getCpu = libc.bind("sched_getcpu", FunctionDescriptor.of(JAVA_INT));
        this.getTid = libc.bind("gettid", FunctionDescriptor.of(JAVA_INT));
    }

    /** Empty where this is not Linux, or native access is denied. */
    public static Optional<LinuxScheduler> instance() {
        return INSTANCE;
    }

    private static Optional<LinuxScheduler> load() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new LinuxScheduler(new Bindings(Linker.nativeLinker().defaultLookup())));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /** CPUs that a thread may run on. */
    public BitSet affinityOf(int tid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment mask = arena.allocate(MASK_BYTES);
            int result = (int) getAffinity.invokeExact(state, tid, (long) MASK_BYTES, mask);
            if (result < 0) {
                throw new IllegalStateException(
                        "sched_getaffinity of thread " + tid + " failed, errno " + (int) ERRNO.get(state, 0L));
            }
            return BitSet.valueOf(mask.toArray(JAVA_BYTE));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    /**
     * Lets the calling thread run on these CPUs only.
     *
     * @return 0, or the error number with which the kernel refused
     */
    public int bindCallingThread(BitSet cpus) {
        if (cpus.length() > MASK_BYTES * 8) {
            throw new IllegalArgumentException(
                    "CPU numbers must be below " + MASK_BYTES * 8 + ", got " + (cpus.length() - 1));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(ERRNO_LAYOUT);
            MemorySegment mask = arena.allocate(MASK_BYTES);
            MemorySegment.copy(cpus.toByteArray(), 0, mask, JAVA_BYTE, 0, cpus.toByteArray().length);
            int result = (int) setAffinity.invokeExact(state, 0, (long) MASK_BYTES, mask);
            return result < 0 ? (int) ERRNO.get(state, 0L) : 0;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    /** The CPU that the calling thread runs on. */
    public int currentCpu() {
        try {
            return (int) getCpu.invokeExact();
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    /** The kernel's number of the calling thread. */
    public int currentTid() {
        try {
            return (int) getTid.invokeExact();
        } catch (Throwable e) {
            throw Bindings.unexpected(e);
        }
    }

    /** CPUs that the process was given: those of its first thread, which the JVM's launcher never pins. */
    public BitSet processAffinity() {
        return affinityOf(Math.toIntExact(ProcessHandle.current().pid()));
    }
}
