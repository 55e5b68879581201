package io.github.roost.index.hnsw.search;

import io.github.roost.vector.spi.ScratchMemory;
import io.github.roost.vector.spi.ScratchPool;
import java.lang.foreign.MemorySegment;

/** Scratch memory of one insertion: a search's scratch, and the neighbours picked in each layer. Used by one insertion at a time. */
final class InsertScratch {
    private static final ScratchPool<InsertScratch> POOL = new ScratchPool<>(InsertScratch::new);

    final SearchScratch search = SearchScratch.take();
    private MemorySegment picked = MemorySegment.NULL;

    private InsertScratch() {}

    /** Takes a scratch from the pool; to be given back in a {@code finally} block. */
    static InsertScratch take() {
        return POOL.take();
    }

    void giveBack() {
        POOL.giveBack(this);
    }

    /** Room for the number of picked neighbours and their entries, per layer. */
    MemorySegment picked(GraphInsertion graph) {
        long bytes = (graph.image.levels() + 1L) * (graph.image.degree(0) + 1L) * Long.BYTES;
        picked = ScratchMemory.roomFor(picked, bytes);
        return picked;
    }
}
