package io.github.roost.core.io;

import java.lang.foreign.MemorySegment;

/** Memory for one block, of a pool. */
final class BlockBuffer {
    private final BlockBuffers owner;
    private final int number;
    private final MemorySegment slab;
    private final int inSlab;
    private final MemorySegment memory;
    /** Guarded by the owner: a buffer that is given back twice would be used by two. */
    boolean isTaken;

    /**
     * A part of a slab.
     *
     * @param number in its pool
     * @param inSlab number in its slab
     */
    BlockBuffer(BlockBuffers owner, int number, MemorySegment slab, int inSlab) {
        this.owner = owner;
        this.number = number;
        this.slab = slab;
        this.inSlab = inSlab;
        this.memory = memory(1);
    }

    int number() {
        return number;
    }

    MemorySegment memory() {
        return memory;
    }

    /** The memory of this buffer and of those that lie behind it. */
    MemorySegment memory(int buffers) {
        return slab.asSlice((long) inSlab * BlockIo.BLOCK_BYTES, (long) buffers * BlockIo.BLOCK_BYTES);
    }

    /** Whether another one of the same pool lies right behind this one. */
    boolean isBefore(BlockBuffer other) {
        return other.number == number + 1 && other.inSlab == inSlab + 1;
    }

    void giveBack() {
        owner.giveBack(this);
    }
}
