package io.github.roost.io;

import java.lang.foreign.MemorySegment;

/** A pooled buffer of one block. */
final class BlockBuffer {
    private final BlockBuffers owner;
    private final int number;
    private final MemorySegment slab;
    private final int inSlab;
    private final MemorySegment memory;
    /** Guarded by the owner. Detects a buffer that is given back twice, which two reads would then share. */
    boolean isTaken;

    /**
     * Creates a buffer in a slab.
     *
     * @param number the number of the buffer in its pool
     * @param inSlab the number of the buffer in its slab
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

    /** Returns the memory of this buffer and the buffers that follow it. */
    MemorySegment memory(int buffers) {
        return slab.asSlice((long) inSlab * BlockIo.BLOCK_BYTES, (long) buffers * BlockIo.BLOCK_BYTES);
    }

    /** Whether another buffer of the same pool directly follows this one in memory. */
    boolean isBefore(BlockBuffer other) {
        return other.number == number + 1 && other.inSlab == inSlab + 1;
    }

    void giveBack() {
        owner.giveBack(this);
    }
}
