package io.github.roost.index.hnsw.search;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.kernel.InstructionSet;
import io.github.roost.vector.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Objects;

/**
 * Graph search, scan and insertion in C for one instruction set, one call per piece. The calls are plain rather than critical: they
 * take many microseconds, and a plain call does not delay safepoints. The head and the memory of an image are arguments of their own, which keeps
 * them open during the call; addresses in a struct of arguments are of memory that lives as long as it is reachable.
 */
final class NativeSearch implements GraphSearcher {
    private final InstructionSet isa;

    private NativeSearch(InstructionSet isa) {
        this.isa = isa;
    }

    /**
     * One implementation per instruction set of this CPU, fastest first.
     *
     * @throws ExceptionInInitializerError if the library cannot be loaded
     */
    static List<GraphSearcher> all() {
        return Library.LIBRARY.supported(NativeSearch::new);
    }

    /** What a search returns that is complete, and whose codes did not tell near nodes from far ones. */
    private static final int UNSURE = 2;

    /** The functions of the library, as constants so that the JIT compiles direct calls. It stays loaded for the life of the JVM. */
    static final class Library {
        static final NativeLibrary LIBRARY = NativeLibrary.load(NativeSearch.class, "roost_hnsw");

        static final MethodHandle SEARCH = LIBRARY.function(
                "roost_hnsw_search", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
        static final MethodHandle END_SEARCH =
                LIBRARY.function("roost_hnsw_end_search", FunctionDescriptor.ofVoid(ADDRESS));
        static final MethodHandle SCAN = LIBRARY.function(
                "roost_hnsw_scan",
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));
        static final MethodHandle SCAN_GROUP = LIBRARY.function(
                "roost_hnsw_scan_group",
                FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));
        static final MethodHandle INSERT =
                LIBRARY.function("roost_hnsw_insert", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
        static final MethodHandle TRIM =
                LIBRARY.function("roost_hnsw_trim", FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_INT));

        private Library() {}
    }

    @Override
    public String name() {
        return isa.label();
    }

    /** C checks no sizes: the image's were validated when it was opened, and {@code requireBegun} checks the scratch's. */
    @Override
    public boolean searchOn(
            GraphImage image, SearchScratch scratch, int width, int maxReranked, NodeSet allowed, int budget) {
        scratch.requireBegun(image, width, budget);
        MemorySegment arguments = scratch.arguments.write(image, scratch, width, maxReranked, allowed, budget);
        int result;
        try {
            result = (int) Library.SEARCH.invokeExact(isa.code(), image.head(), image.memory(), arguments);
        } catch (Throwable failure) {
            throw new IllegalStateException("native search failed", failure);
        } finally {
            Reference.reachabilityFence(scratch);
            Reference.reachabilityFence(allowed);
        }
        if (result < 0) {
            throw new DamagedImageException();
        }
        scratch.setUnsure(result == UNSURE);
        return result != 0;
    }

    @Override
    public void endSearch(SearchScratch scratch) {
        try {
            Library.END_SEARCH.invokeExact(scratch.progress);
        } catch (Throwable failure) {
            throw new IllegalStateException("native search failed", failure);
        }
    }

    @Override
    public boolean scanOn(
            GraphImage image, SearchScratch scratch, int width, NodeSet allowed, int from, int to, int budget) {
        scratch.requireBegun(image, width, budget);
        JavaSearch.requireNodes(image, from, to);
        MemorySegment arguments = scratch.arguments.write(image, scratch, width, width, allowed, budget);
        try {
            return (int) Library.SCAN.invokeExact(
                            isa.code(), image.head(), image.memory(), arguments, (long) from, (long) to)
                    != 0;
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        } finally {
            Reference.reachabilityFence(scratch);
            Reference.reachabilityFence(allowed);
        }
    }

    @Override
    public int scanTogether(GraphImage image, GroupScratch scratch, NodeSet allowed, int from, int to) {
        scratch.requireBegun(image);
        JavaSearch.requireNodes(image, from, to);
        MemorySegment arguments = scratch.arguments(image, allowed);
        try {
            return (int) (long) Library.SCAN_GROUP.invokeExact(
                    isa.code(), image.head(), image.memory(), arguments, (long) from, (long) to);
        } catch (Throwable failure) {
            throw new IllegalStateException("native scan failed", failure);
        } finally {
            Reference.reachabilityFence(scratch);
            Reference.reachabilityFence(allowed);
        }
    }

    /**
     * Continues the insertion of a node.
     *
     * @return whether the insertion is complete
     */
    boolean insertOn(GraphInsertion graph, InsertScratch scratch, int node, int budget) {
        scratch.search.requireBegun(graph.image, graph.width, budget);
        Objects.checkIndex(node, graph.image.shape().nodes());
        MemorySegment arguments = scratch.arguments(graph, node, budget);
        try {
            return (int) Library.INSERT.invokeExact(isa.code(), graph.build, arguments) != 0;
        } catch (Throwable failure) {
            throw new IllegalStateException("native insertion failed", failure);
        } finally {
            Reference.reachabilityFence(graph);
            Reference.reachabilityFence(scratch);
        }
    }

    /** Prunes a node's lists to their final max length. */
    void trim(GraphInsertion graph, int node) {
        Objects.checkIndex(node, graph.image.shape().nodes());
        try {
            Library.TRIM.invokeExact(isa.code(), graph.build, node);
        } catch (Throwable failure) {
            throw new IllegalStateException("native trimming failed", failure);
        } finally {
            Reference.reachabilityFence(graph);
        }
    }
}
