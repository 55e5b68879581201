package io.github.roost.io;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A worker's pool of off-heap buffers of one block each, aligned to the block size. The first slab is allocated, and registered with the
 * worker's queue, at the first use, so that on a NUMA machine the worker touches it first; more slabs are allocated when all buffers are in
 * use, up to a limit. Buffers taken together have ascending addresses, and are contiguous if such buffers are free, so that adjacent blocks
 * can be read at once.
 *
 * <p>The worker takes buffers, any thread gives them back; all state is guarded by this, held for a few nanoseconds. Only {@link #close}
 * frees memory; after it every access to a buffer throws {@link IllegalStateException}.
 */
final class BlockBuffers {
    private static final int SLAB_BUFFERS = 256;
    private static final BlockBuffer[] NONE = {};

    private final BlockDevice.Queue queue;
    private final int max;
    private final Arena arena = Arena.ofShared();
    private BlockBuffer[] buffers = NONE;
    /** One bit per buffer. */
    private long[] free = {};

    private int freeCount;
    private boolean registered;
    private boolean closed;

    /**
     * Creates a pool without memory.
     *
     * @param queue the queue that registers the first slab
     * @param max the maximum number of buffers
     */
    BlockBuffers(BlockDevice.Queue queue, int max) {
        this.queue = queue;
        this.max = max;
    }

    /** Takes {@code count} buffers, or throws and takes none. */
    synchronized void take(BlockBuffer[] into, int count) {
        if (closed) {
            throw BlockIo.closed();
        }
        while (freeCount < count) {
            makeSlab(count);
        }
        int taken = 0;
        for (int word = 0; taken < count; word++) {
            while (free[word] != 0 && taken < count) {
                BlockBuffer buffer = buffers[word * Long.SIZE + Long.numberOfTrailingZeros(free[word])];
                free[word] &= free[word] - 1;
                freeCount--;
                buffer.isTaken = true;
                into[taken++] = buffer;
            }
        }
    }

    private void makeSlab(int wanted) {
        int made = buffers.length;
        int size = Math.min(SLAB_BUFFERS, max - made);
        if (size == 0) {
            throw new BlockReads.BuffersExhaustedException(wanted, max, max - freeCount);
        }
        MemorySegment slab = arena.allocate((long) size * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
        BlockBuffer[] more = Arrays.copyOf(buffers, made + size);
        for (int i = 0; i < size; i++) {
            more[made + i] = new BlockBuffer(this, made + i, slab, i);
        }
        long[] bits = Arrays.copyOf(free, (made + size + Long.SIZE - 1) / Long.SIZE);
        buffers = more;
        free = bits;
        for (int i = 0; i < size; i++) {
            setFree(made + i);
        }
        if (made == 0) {
            registered = queue.register(slab);
        }
    }

    private void setFree(int number) {
        free[number / Long.SIZE] |= 1L << number;
        freeCount++;
    }

    /** Allocates nothing: there is a bit for every buffer. */
    synchronized void giveBack(BlockBuffer buffer) {
        if (!buffer.isTaken) {
            throw new IllegalStateException("a buffer must be given back once");
        }
        buffer.isTaken = false;
        if (!closed) {
            setFree(buffer.number());
        }
    }

    synchronized int inUse() {
        return closed ? 0 : buffers.length - freeCount;
    }

    synchronized boolean isRegistered() {
        return registered;
    }

    /** Frees the memory; no read into it may be in flight. */
    synchronized void close() {
        if (!closed) {
            arena.close();
            closed = true;
            buffers = NONE;
            freeCount = 0;
        }
    }
}
