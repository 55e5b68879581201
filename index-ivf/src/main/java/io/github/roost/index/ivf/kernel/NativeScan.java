package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The scan in C, for one instruction set. Its calls are plain, not critical: they take microseconds, against which the
 * 4 ns that a critical call would save are nothing, and a plain call holds up no safepoint. The one exception reads and writes
 * arrays, which only a critical call can.
 */
final class NativeScan implements ScanKernel {
    /** The instruction sets, in the order of the C enumeration. */
    private enum Isa {
        PORTABLE,
        AVX2,
        AVX512,
        NEON
    }

    private static final List<Isa> BEST_FIRST = List.of(Isa.AVX512, Isa.AVX2, Isa.NEON, Isa.PORTABLE);

    /** So few rows that to choose from them takes a microsecond or two, for which a safepoint can wait. */
    private static final int MOST_KEPT_FROM = 2_048;

    private final MethodHandle scan;
    private final MethodHandle scanCodes;
    private final MethodHandle compare;
    private final MethodHandle keep;
    private final Isa isa;

    private NativeScan(MethodHandle scan, MethodHandle scanCodes, MethodHandle compare, MethodHandle keep, Isa isa) {
        this.scan = scan;
        this.scanCodes = scanCodes;
        this.compare = compare;
        this.keep = keep;
        this.isa = isa;
    }

    /** The symbols of a library, which stays loaded for the life of the JVM. */
    @SuppressWarnings("restricted")
    static SymbolLookup library(Path file) {
        return SymbolLookup.libraryLookup(file, Arena.global());
    }

    /** One kernel for each instruction set that this CPU has, the fastest first. */
    @SuppressWarnings("restricted")
    static List<ScanKernel> of(SymbolLookup library) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle supports = linker.downcallHandle(
                library.findOrThrow("roost_ivf_supports"), FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        MethodHandle scan = linker.downcallHandle(
                library.findOrThrow("roost_ivf_scan"),
                FunctionDescriptor.ofVoid(
                        JAVA_INT,
                        ADDRESS,
                        JAVA_INT,
                        ADDRESS,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_INT,
                        JAVA_FLOAT,
                        ADDRESS,
                        JAVA_INT,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        JAVA_LONG));
        MethodHandle scanCodes = linker.downcallHandle(
                library.findOrThrow("roost_ivf_scan_codes"),
                FunctionDescriptor.ofVoid(
                        JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS,
                        ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
        MethodHandle compare = linker.downcallHandle(
                library.findOrThrow("roost_ivf_compare"),
                FunctionDescriptor.ofVoid(
                        JAVA_INT,
                        ADDRESS,
                        ADDRESS,
                        JAVA_LONG,
                        JAVA_LONG,
                        JAVA_INT,
                        JAVA_FLOAT,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS));
        MethodHandle keep = linker.downcallHandle(
                library.findOrThrow("roost_ivf_keep"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS),
                Linker.Option.critical(true));
        List<ScanKernel> kernels = new ArrayList<>();
        for (Isa isa : BEST_FIRST) {
            if ((int) supports.invokeExact(isa.ordinal()) != 0) {
                kernels.add(new NativeScan(scan, scanCodes, compare, keep, isa));
            }
        }
        return kernels;
    }

    @Override
    public String name() {
        return isa.name().toLowerCase(Locale.ROOT);
    }

    /** A run checks its own sizes, and a group allocates its own memory; only their strides can disagree. */
    @Override
    public void scan(RowRun run, QueryGroup group) {
        if (run.stride() != group.stride) {
            throw new IllegalArgumentException(
                    "the queries' stride must be the rows' " + run.stride() + ", got " + group.stride);
        }
        try {
            scan.invokeExact(
                    isa.ordinal(),
                    run.vectors(),
                    run.componentBytes() == Short.BYTES ? 1 : 0,
                    run.ids(),
                    run.count(),
                    (long) run.stride(),
                    group.innerProduct ? 1 : 0,
                    group.bias,
                    group.queries,
                    group.size(),
                    group.wanted,
                    group.sizes,
                    group.bounds,
                    group.foundDistances,
                    group.foundIds,
                    (long) group.room);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        }
    }

    /** A run checks its own sizes, and the group, whose memory has room for all that a run can find, checks the rows. */
    @Override
    public void scan(CodeRun run, int from, int to, CodeGroup group) {
        group.requireFits(run, from, to);
        try {
            scanCodes.invokeExact(
                    isa.ordinal(),
                    run.codes(),
                    run.terms(),
                    from,
                    to,
                    run.count(),
                    run.stride(),
                    group.size(),
                    group.weights,
                    group.starts,
                    group.slopes,
                    group.bounds,
                    CodeGroup.ROOM,
                    group.found,
                    group.rows,
                    group.scores);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        }
    }

    @Override
    public boolean scansCodesFaster() {
        return isa != Isa.PORTABLE;
    }

    /** Picks have checked every row that they took, and hold the runs whose memory they point into. */
    @Override
    public void compare(RowPicks picks) {
        try {
            compare.invokeExact(
                    isa.ordinal(),
                    picks.addresses,
                    picks.idAddresses,
                    (long) picks.size(),
                    (long) picks.stride,
                    picks.innerProduct ? 1 : 0,
                    picks.bias,
                    picks.query,
                    picks.distances,
                    picks.ids);
        } catch (Throwable failure) {
            throw new IllegalStateException("native comparison failed", failure);
        } finally {
            Reference.reachabilityFence(picks);
        }
    }

    @Override
    public void keep(ScoredRows rows, int wanted) {
        Smallest.requireKeepable(rows, wanted);
        if (rows.size > MOST_KEPT_FROM) {
            Smallest.keep(rows, wanted);
            return;
        }
        ScoredRows.Segments arrays = rows.segments();
        try {
            rows.size = (int) keep.invokeExact(
                    isa.ordinal(), arrays.scores(), arrays.places(), rows.size, wanted, arrays.bound());
        } catch (Throwable failure) {
            throw new IllegalStateException("native choice failed", failure);
        }
    }
}
