package io.github.roost.index.hnsw.search;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.roost.vector.memory.ScratchMemory;
import io.github.roost.vector.spi.ScratchPool;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** Scratch memory of one insertion: a search's scratch, and the neighbors picked in each layer. Used by one insertion at a time. */
final class InsertScratch {
    /** {@code struct insert} in insert.h. */
    static final StructLayout LAYOUT = MemoryLayout.structLayout(
            ADDRESS.withName("search"),
            ADDRESS.withName("query"),
            ADDRESS.withName("picked"),
            ADDRESS.withName("insertion"),
            JAVA_INT.withName("node"),
            MemoryLayout.paddingLayout(Integer.BYTES),
            ADDRESS.withName("build"));

    private static final VarHandle SEARCH = field("search");
    private static final VarHandle QUERY = field("query");
    private static final VarHandle PICKED = field("picked");
    private static final VarHandle INSERTION = field("insertion");
    private static final VarHandle NODE = field("node");

    private static final ScratchPool<InsertScratch> POOL = new ScratchPool<>(InsertScratch::new);

    final SearchScratch search = SearchScratch.take();
    /** The arguments of an insertion in C. */
    private final MemorySegment arguments = ScratchMemory.allocate(LAYOUT.byteSize());
    /** Room for the number of picked neighbors and their entries, per layer. */
    private MemorySegment picked = MemorySegment.NULL;

    private InsertScratch() {}

    private static VarHandle field(String name) {
        return LAYOUT.varHandle(groupElement(name));
    }

    /** Takes a scratch from the pool; to be given back in a {@code finally} block. */
    static InsertScratch take() {
        return POOL.take();
    }

    void giveBack() {
        POOL.giveBack(this);
    }

    /** Writes the arguments of a call; this must stay reachable until the call returns. */
    MemorySegment arguments(GraphInsertion graph, int node, int budget) {
        long bytes = (graph.image.levels() + 1L) * (graph.image.degree(0) + 1L) * Long.BYTES;
        picked = ScratchMemory.roomFor(picked, bytes);
        MemorySegment searches =
                search.arguments.write(graph.image, search, graph.width, graph.width, NodeSet.ALL, budget);
        SEARCH.set(arguments, 0L, searches);
        QUERY.set(arguments, 0L, search.query);
        PICKED.set(arguments, 0L, picked);
        INSERTION.set(arguments, 0L, search.progress);
        NODE.set(arguments, 0L, node);
        return arguments;
    }
}
