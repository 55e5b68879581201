package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.vector.kernel.InstructionSet;
import io.github.roost.vector.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.List;

/**
 * The scan in C, for one instruction set. Its calls are plain, not critical: they take microseconds, so the
 * 4 ns that a critical call would save do not matter, and a plain call delays no safepoint. Calls that read and
 * write Java arrays are critical, as only critical calls can. The memory of rows is an argument of its own, which keeps it open during
 * the call; addresses in a struct of arguments are of memory that lives as long as it is reachable.
 */
final class NativeScan implements ScanKernel {
    /** Max rows of a critical call: choosing among them takes a few microseconds at most, for which a safepoint can wait. */
    private static final int MAX_CRITICAL = 2_048;

    /** MAX_ORDERED of the C scan, whose time is quadratic in it. */
    private static final int MAX_ORDERED = 256;

    private final InstructionSet isa;

    private NativeScan(InstructionSet isa) {
        this.isa = isa;
    }

    /**
     * One kernel per instruction set that this CPU has, the fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<ScanKernel> all() {
        return Library.LIBRARY.supported(NativeScan::new);
    }

    /** The functions of the library; constants, so that calls are direct. It stays loaded for the life of the JVM. */
    static final class Library {
        static final NativeLibrary LIBRARY = NativeLibrary.load(NativeScan.class, "roost_ivf");

        static final MethodHandle SCAN =
                LIBRARY.function("roost_ivf_scan", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
        static final MethodHandle SCAN_CODES = LIBRARY.function(
                "roost_ivf_scan_codes", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
        static final MethodHandle WEIGH =
                LIBRARY.function("roost_ivf_weigh", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS));
        static final MethodHandle COMPARE =
                LIBRARY.function("roost_ivf_compare", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS));
        static final MethodHandle BOUND = LIBRARY.function(
                "roost_ivf_bound",
                FunctionDescriptor.of(JAVA_FLOAT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_FLOAT, JAVA_INT),
                Linker.Option.critical(true));
        static final MethodHandle KEEP = LIBRARY.function(
                "roost_ivf_keep",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_FLOAT),
                Linker.Option.critical(true));
        static final MethodHandle ORDER = LIBRARY.function(
                "roost_ivf_order",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS),
                Linker.Option.critical(true));

        private Library() {}
    }

    @Override
    public String name() {
        return isa.label();
    }

    /** A run checks its own sizes, and a group allocates its own memory; only their strides can disagree. */
    @Override
    public void scan(RowRun run, QueryGroup group) {
        if (run.stride() != group.stride) {
            throw new IllegalArgumentException(
                    "the queries' stride must be the rows' " + run.stride() + ", got " + group.stride);
        }
        MemorySegment arguments = group.arguments(run);
        try {
            Library.SCAN.invokeExact(isa.code(), run.vectors(), run.ids(), arguments);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        } finally {
            Reference.reachabilityFence(group);
        }
    }

    /** A group allocates its own memory. */
    @Override
    public void weigh(CodeGroup group) {
        MemorySegment arguments = group.arguments();
        try {
            Library.WEIGH.invokeExact(isa.code(), arguments);
        } catch (Throwable failure) {
            throw new IllegalStateException("native weighing failed", failure);
        } finally {
            Reference.reachabilityFence(group);
        }
    }

    /** A run checks its own sizes; the group checks the rows, and has memory for all rows that a scan can find. */
    @Override
    public void scan(CodeRun run, int from, int to, CodeGroup group) {
        group.requireFits(run, from, to);
        MemorySegment arguments = group.arguments(run, from, to);
        try {
            Library.SCAN_CODES.invokeExact(isa.code(), run.codes(), run.terms(), arguments);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        } finally {
            Reference.reachabilityFence(group);
        }
    }

    @Override
    public boolean scansCodesFaster() {
        return isa != InstructionSet.PORTABLE;
    }

    /** Picks checked every row when it was added, and hold the runs whose memory they point into. */
    @Override
    public void compare(RowPicks picks) {
        MemorySegment arguments = picks.arguments();
        try {
            Library.COMPARE.invokeExact(isa.code(), arguments);
        } catch (Throwable failure) {
            throw new IllegalStateException("native comparison failed", failure);
        } finally {
            Reference.reachabilityFence(picks);
        }
    }

    @Override
    public float bound(ScoredRows rows, float certain, int wanted) {
        Smallest.requireWanted(wanted);
        if (rows.size > MAX_CRITICAL) {
            return Smallest.bound(rows, certain, wanted);
        }
        try {
            // At most the size plus one: a sum in C must not overflow.
            return (float) Library.BOUND.invokeExact(
                    isa.code(), rows.segments().scores(), rows.size, certain, Math.min(wanted, rows.size + 1));
        } catch (Throwable failure) {
            throw new IllegalStateException("native choice failed", failure);
        }
    }

    @Override
    public void keepUpTo(ScoredRows rows, float bound) {
        if (rows.size > MAX_CRITICAL) {
            Smallest.keepUpTo(rows, bound);
            return;
        }
        ScoredRows.Segments arrays = rows.segments();
        try {
            rows.size = (int) Library.KEEP.invokeExact(isa.code(), arrays.scores(), arrays.places(), rows.size, bound);
        } catch (Throwable failure) {
            throw new IllegalStateException("native choice failed", failure);
        }
    }

    @Override
    public int order(float[] distances, int count, int wanted, int[] order) {
        DistanceOrder.requireFits(distances, count, wanted, order);
        if (count > MAX_CRITICAL || Math.min(wanted, count) > MAX_ORDERED) {
            return DistanceOrder.order(distances, count, order);
        }
        try {
            int ordered = (int) Library.ORDER.invokeExact(
                    isa.code(), MemorySegment.ofArray(distances), count, wanted, MemorySegment.ofArray(order));
            return ordered < 0 ? DistanceOrder.order(distances, count, order) : ordered;
        } catch (Throwable failure) {
            throw new IllegalStateException("native order failed", failure);
        }
    }
}
