package io.github.roost.index.hnsw.walk;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The walk in C, for one instruction set: one call a search. Its calls are plain, not critical: they take many
 * microseconds, and a plain call holds up no safepoint.
 */
final class NativeWalk implements GraphWalk {
    /** The instruction sets, in the order of the C enumeration. */
    private enum Isa {
        PORTABLE,
        AVX2,
        AVX512,
        NEON
    }

    private static final List<Isa> BEST_FIRST = List.of(Isa.AVX512, Isa.AVX2, Isa.NEON, Isa.PORTABLE);

    private final MethodHandle walk;
    private final MethodHandle scan;
    private final Isa isa;

    private NativeWalk(MethodHandle walk, MethodHandle scan, Isa isa) {
        this.walk = walk;
        this.scan = scan;
        this.isa = isa;
    }

    /** The symbols of a library, which stays loaded for the life of the JVM. */
    @SuppressWarnings("restricted")
    static SymbolLookup library(Path file) {
        return SymbolLookup.libraryLookup(file, Arena.global());
    }

    /** One walk for each instruction set that this CPU has, the fastest first. */
    @SuppressWarnings("restricted")
    static List<GraphWalk> of(SymbolLookup library) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle supports = linker.downcallHandle(
                library.findOrThrow("roost_hnsw_supports"), FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        MethodHandle walk = linker.downcallHandle(
                library.findOrThrow("roost_hnsw_walk"),
                FunctionDescriptor.of(
                        JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
                        ADDRESS, ADDRESS, ADDRESS, ADDRESS));
        MethodHandle scan = linker.downcallHandle(
                library.findOrThrow("roost_hnsw_scan"),
                FunctionDescriptor.of(
                        JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG,
                        ADDRESS, ADDRESS));
        List<GraphWalk> walks = new ArrayList<>();
        for (Isa isa : BEST_FIRST) {
            if ((int) supports.invokeExact(isa.ordinal()) != 0) {
                walks.add(new NativeWalk(walk, scan, isa));
            }
        }
        return walks;
    }

    @Override
    public String name() {
        return isa.name().toLowerCase(Locale.ROOT);
    }

    /** An image has checked its own sizes, and a scratch allocates its own memory. */
    @Override
    public void walk(GraphImage image, WalkScratch scratch, int width, int mostReranked, NodeSet allowed) {
        scratch.requireBegun(image, width);
        scratch.padQuery();
        try {
            scratch.setSize((int) walk.invokeExact(
                    isa.ordinal(),
                    image.memory(),
                    scratch.query,
                    innerProduct(image),
                    width,
                    mostReranked,
                    allowed.words(image),
                    scratch.visited,
                    scratch.candidates,
                    scratch.log,
                    scratch.found,
                    scratch.weights,
                    scratch.computed));
        } catch (Throwable failure) {
            throw new IllegalStateException("native walk failed", failure);
        }
    }

    @Override
    public void scan(GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image, width);
        JavaWalk.requireNodes(image, from, to);
        scratch.padQuery();
        try {
            scratch.setSize((int) scan.invokeExact(
                    isa.ordinal(),
                    image.memory(),
                    scratch.query,
                    innerProduct(image),
                    width,
                    allowed.words(image),
                    (long) from,
                    (long) to,
                    scratch.found,
                    scratch.computed));
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        }
    }

    private static int innerProduct(GraphImage image) {
        return image.shape().metric() == Metric.INNER_PRODUCT ? 1 : 0;
    }
}
