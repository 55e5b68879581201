package io.github.roost.index.ivf.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Optional;

/** The scan in C, for one instruction set. */
final class NativeScan implements ScanKernel {
    /** The library's numbers for instruction sets, fastest last. */
    enum InstructionSet {
        PORTABLE,
        NEON,
        AVX2,
        AVX512
    }

    /**
     * Products of floats in one call at most: some 50 microseconds. The call is critical, which lets heap arrays through
     * without copies, but holds up safepoints while it lasts.
     */
    private static final long MOST_PRODUCTS = 1_500_000;

    private static final Optional<Library> LIBRARY = Library.load();

    private final Library library;
    private final InstructionSet instructionSet;

    private NativeScan(Library library, InstructionSet instructionSet) {
        this.library = library;
        this.instructionSet = instructionSet;
    }

    /** The kernel for an instruction set; empty where this processor or the build lacks it. */
    static Optional<ScanKernel> of(InstructionSet instructionSet) {
        return LIBRARY.filter(library -> library.supports(instructionSet))
                .map(library -> new NativeScan(library, instructionSet));
    }

    @Override
    public void scan(
            Metric metric,
            float[] queries,
            int dimension,
            MemorySegment rows,
            MemorySegment ids,
            long count,
            TopK top) {
        ScanKernel.check(queries, dimension, rows, ids, count, top);
        long rowsPerCall = Math.max(64, MOST_PRODUCTS / ((long) top.queries * dimension));
        long rowBytes = (long) dimension * Float.BYTES;
        for (long first = 0; first < count; first += rowsPerCall) {
            long rowCount = Math.min(rowsPerCall, count - first);
            library.scan(
                    instructionSet,
                    metric,
                    queries,
                    dimension,
                    rows.asSlice(first * rowBytes, rowCount * rowBytes),
                    ids.asSlice(first * Long.BYTES, rowCount * Long.BYTES),
                    rowCount,
                    top);
        }
    }

    @Override
    public String name() {
        return instructionSet.name().toLowerCase(Locale.ROOT);
    }

    private record Library(MethodHandle supports, MethodHandle scan) {
        static Optional<Library> load() {
            String resource = "/native/" + System.getProperty("os.name") + "-" + System.getProperty("os.arch")
                    + "/libroost_scan.so";
            try (InputStream in = NativeScan.class.getResourceAsStream(resource)) {
                return in == null ? Optional.empty() : Optional.of(bind(in));
            } catch (IOException | IllegalArgumentException | IllegalCallerException e) {
                System.getLogger(NativeScan.class.getName())
                        .log(System.Logger.Level.WARNING, "the native scan cannot be loaded, scans run in Java", e);
                return Optional.empty();
            }
        }

        @SuppressWarnings("restricted")
        private static Library bind(InputStream in) throws IOException {
            // Temporary files of java.nio.file are readable by their owner alone.
            Path file = Files.createTempFile("roost-scan", ".so");
            SymbolLookup symbols;
            try {
                Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
                symbols = SymbolLookup.libraryLookup(file, Arena.global());
            } finally {
                Files.deleteIfExists(file);
            }
            Linker linker = Linker.nativeLinker();
            return new Library(
                    linker.downcallHandle(
                            symbols.findOrThrow("roost_supports"), FunctionDescriptor.of(JAVA_INT, JAVA_INT)),
                    linker.downcallHandle(
                            symbols.findOrThrow("roost_scan"),
                            FunctionDescriptor.ofVoid(
                                    JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
                                    JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
                            Linker.Option.critical(true)));
        }

        boolean supports(InstructionSet instructionSet) {
            try {
                return (int) supports.invokeExact(instructionSet.ordinal()) != 0;
            } catch (Throwable e) {
                throw new AssertionError("a native call threw", e);
            }
        }

        void scan(
                InstructionSet instructionSet,
                Metric metric,
                float[] queries,
                int dimension,
                MemorySegment rows,
                MemorySegment ids,
                long count,
                TopK top) {
            try {
                scan.invokeExact(
                        instructionSet.ordinal(),
                        metric.ordinal(),
                        MemorySegment.ofArray(queries),
                        top.queries,
                        dimension,
                        rows,
                        ids,
                        count,
                        top.k,
                        MemorySegment.ofArray(top.distances),
                        MemorySegment.ofArray(top.ids),
                        MemorySegment.ofArray(top.sizes));
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError("a native call threw", e);
            }
        }
    }
}
