package io.github.roost.index.hnsw.walk;

import io.github.roost.core.ScratchMemory;
import io.github.roost.core.ScratchPool;
import java.lang.foreign.MemorySegment;

/** What one insertion needs besides the graph: that of a search, and the neighbours picked in each layer. Belongs to it alone. */
final class InsertScratch {
    private static final ScratchPool<InsertScratch> POOL = new ScratchPool<>(InsertScratch::new);

    final WalkScratch search = WalkScratch.take();
    private MemorySegment picked = MemorySegment.NULL;

    private InsertScratch() {}

    /** One that no other insertion has; to be given back in a {@code finally} block. */
    static InsertScratch take() {
        return POOL.take();
    }

    void giveBack() {
        POOL.giveBack(this);
    }

    /** Room for the neighbours of a node, one entry each, and how many there are, in each layer. */
    MemorySegment picked(GraphInsertion graph) {
        long bytes = (graph.image.levels() + 1L) * (graph.image.degree(0) + 1L) * Long.BYTES;
        picked = ScratchMemory.roomFor(picked, bytes);
        return picked;
    }
}
