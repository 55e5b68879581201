package io.github.roost.core.io;

import java.lang.foreign.MemorySegment;

/** Memory for one block, of a pool. */
final class BlockBuffer {
    private final BlockBuffers owner;
    private final MemorySegment memory;
    /** Guarded by the owner: a buffer that is given back twice would be used by two. */
    boolean isTaken;

    BlockBuffer(BlockBuffers owner, MemorySegment memory) {
        this.owner = owner;
        this.memory = memory;
    }

    MemorySegment memory() {
        return memory;
    }

    void giveBack() {
        owner.giveBack(this);
    }
}
