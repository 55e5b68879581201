package io.github.roost.index.hnsw.search;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.roost.vector.Metric;
import io.github.roost.vector.kernel.InstructionSet;
import io.github.roost.vector.kernel.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Objects;

/**
 * Graph search, scan and insertion in C for one instruction set, one call per piece. The calls are plain rather than critical: they
 * take many microseconds, and a plain call does not delay safepoints.
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

    /** The functions of the library, as constants so that the JIT compiles direct calls. It stays loaded for the life of the JVM. */
    static final class Library {
        static final NativeLibrary LIBRARY = NativeLibrary.load(NativeSearch.class, "roost_hnsw");

        static final MethodHandle SEARCHER = LIBRARY.function(
                "roost_hnsw_search",
                FunctionDescriptor.of(
                        JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
                        ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG));
        static final MethodHandle END_SEARCH =
                LIBRARY.function("roost_hnsw_end_search", FunctionDescriptor.ofVoid(ADDRESS));
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

    /** C checks no sizes: the image's were validated when it was opened, and {@code requireBegun} checks the scratch's. */
    @Override
    public boolean searchOn(
            GraphImage image, SearchScratch scratch, int width, int maxReranked, NodeSet allowed, int budget) {
        scratch.requireBegun(image, width, budget);
        int result;
        try {
            result = (int) Library.SEARCHER.invokeExact(
                    isa.code(),
                    image.memory(),
                    scratch.query,
                    innerProduct(image),
                    width,
                    maxReranked,
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
            throw new IllegalStateException("native search failed", failure);
        }
        if (result < 0) {
            throw new DamagedImageException();
        }
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
        JavaSearch.requireNodes(image, from, to);
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
     * Continues the insertion of a node.
     *
     * @return whether the insertion is complete
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

    /** Prunes a node's lists to their final max length. */
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
