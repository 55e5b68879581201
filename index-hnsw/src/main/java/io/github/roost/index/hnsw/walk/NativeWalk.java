package io.github.roost.index.hnsw.walk;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.core.Metric;
import io.github.roost.core.kernel.InstructionSet;
import io.github.roost.core.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Objects;

/**
 * The walk in C, for one instruction set: one call per piece of a search. Its calls are plain, not critical: they take many
 * microseconds, and a plain call holds up no safepoint.
 */
final class NativeWalk implements GraphWalk {
    private final InstructionSet isa;

    private NativeWalk(InstructionSet isa) {
        this.isa = isa;
    }

    /**
     * One walk for each instruction set that this CPU has, the fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<GraphWalk> all() {
        return Library.LIBRARY.supported(NativeWalk::new);
    }

    /** The functions of the library: constants, so that a call is compiled to a call. It stays loaded for the life of the JVM. */
    static final class Library {
        static final NativeLibrary LIBRARY = NativeLibrary.load(NativeWalk.class, "roost_hnsw");

        static final MethodHandle WALK = LIBRARY.function(
                "roost_hnsw_walk",
                FunctionDescriptor.of(
                        JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
                        ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG));
        static final MethodHandle END_WALK =
                LIBRARY.function("roost_hnsw_end_walk", FunctionDescriptor.ofVoid(ADDRESS));
        static final MethodHandle SCAN = LIBRARY.function(
                "roost_hnsw_scan",
                FunctionDescriptor.of(
                        JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG,
                        ADDRESS, ADDRESS, JAVA_INT));

        static final MethodHandle SCAN_GROUP = LIBRARY.function(
                "roost_hnsw_scan_group",
                FunctionDescriptor.of(
                        JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS,
                        JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

        static final MethodHandle INSERT = LIBRARY.function(
                "roost_hnsw_insert",
                FunctionDescriptor.of(
                        JAVA_INT,
                        JAVA_INT,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        JAVA_INT,
                        JAVA_FLOAT,
                        JAVA_INT,
                        JAVA_INT,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        ADDRESS,
                        JAVA_INT));

        static final MethodHandle TRIM = LIBRARY.function(
                "roost_hnsw_trim",
                FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_FLOAT, JAVA_INT));

        private Library() {}
    }

    @Override
    public String name() {
        return isa.label();
    }

    /** An image has checked its own sizes, and a scratch allocates its own memory. */
    @Override
    public boolean walkOn(
            GraphImage image, WalkScratch scratch, int width, int mostReranked, NodeSet allowed, int budget) {
        scratch.requireBegun(image, width, budget);
        int result;
        try {
            result = (int) Library.WALK.invokeExact(
                    isa.code(),
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
                    scratch.estimates,
                    scratch.progress,
                    budget,
                    (long) allowed.labels());
        } catch (Throwable failure) {
            throw new IllegalStateException("native walk failed", failure);
        }
        if (result < 0) {
            throw new DamagedImageException();
        }
        return result != 0;
    }

    @Override
    public void endWalk(WalkScratch scratch) {
        try {
            Library.END_WALK.invokeExact(scratch.progress);
        } catch (Throwable failure) {
            throw new IllegalStateException("native walk failed", failure);
        }
    }

    @Override
    public boolean scanOn(
            GraphImage image, WalkScratch scratch, int width, NodeSet allowed, int from, int to, int budget) {
        scratch.requireBegun(image, width, budget);
        JavaWalk.requireNodes(image, from, to);
        try {
            return (int) Library.SCAN.invokeExact(
                            isa.code(),
                            image.memory(),
                            scratch.query,
                            innerProduct(image),
                            width,
                            allowed.words(image),
                            (long) from,
                            (long) to,
                            scratch.found,
                            scratch.progress,
                            budget)
                    != 0;
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        }
    }

    @Override
    public int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image);
        JavaWalk.requireNodes(image, from, to);
        try {
            return (int) (long) Library.SCAN_GROUP.invokeExact(
                    isa.code(),
                    image.memory(),
                    scratch.vectors,
                    (long) scratch.stride(),
                    scratch.queries(),
                    scratch.width(),
                    innerProduct(image),
                    allowed.words(image),
                    (long) from,
                    (long) to,
                    scratch.found,
                    scratch.sizes,
                    scratch.bounds);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        }
    }

    /**
     * Goes on with the insertion of a node; {@link GraphInsertion} and {@link InsertScratch} have allocated their own memory.
     *
     * @return whether the node is in the graph
     */
    boolean insertOn(GraphInsertion graph, InsertScratch scratch, int node, int budget) {
        scratch.search.requireBegun(graph.image, graph.width, budget);
        Objects.checkIndex(node, graph.image.shape().nodes());
        try {
            return (int) Library.INSERT.invokeExact(
                            isa.code(),
                            graph.image.memory(),
                            graph.lengths,
                            graph.chosen,
                            graph.locks,
                            graph.links,
                            graph.factor,
                            node,
                            graph.width,
                            scratch.search.query,
                            scratch.search.visited,
                            scratch.search.candidates,
                            scratch.search.log,
                            scratch.search.found,
                            scratch.picked(graph),
                            scratch.search.progress,
                            budget)
                    != 0;
        } catch (Throwable failure) {
            throw new IllegalStateException("native insertion failed", failure);
        }
    }

    /** Brings a node's lists back to what they keep. */
    void trim(GraphInsertion graph, int node) {
        Objects.checkIndex(node, graph.image.shape().nodes());
        try {
            Library.TRIM.invokeExact(
                    isa.code(), graph.image.memory(), graph.lengths, graph.chosen, graph.links, graph.factor, node);
        } catch (Throwable failure) {
            throw new IllegalStateException("native trimming failed", failure);
        }
    }

    private static int innerProduct(GraphImage image) {
        return image.shape().metric() == Metric.INNER_PRODUCT ? 1 : 0;
    }
}
