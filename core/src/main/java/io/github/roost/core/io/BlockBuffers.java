package io.github.roost.core.io;

import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * A worker's buffers of one block each, outside the heap and aligned as blocks are. The first slab is made, and registered with
 * the worker's queue, at the first use, so that a worker of a NUMA machine touches it first; more are made when all are in use,
 * up to a limit.
 *
 * <p>Taken by the worker, given back by whichever thread comes to it: everything is guarded by this, for a few nanoseconds.
 * Memory is freed by {@link #close} alone, after which every access to a buffer throws {@link IllegalStateException}.
 */
final class BlockBuffers {
    private static final int SLAB_BUFFERS = 256;
    private static final BlockBuffer[] NONE = {};

    private final BlockDevice.Queue queue;
    private final int most;
    private final Arena arena = Arena.ofShared();
    private BlockBuffer[] free = NONE;
    private int freeCount;
    private int made;
    private boolean registered;
    private boolean closed;

    /**
     * No memory yet.
     *
     * @param queue told of the first slab
     * @param most buffers
     */
    BlockBuffers(BlockDevice.Queue queue, int most) {
        this.queue = queue;
        this.most = most;
    }

    /** Takes all that are asked for, or none. */
    synchronized void take(BlockBuffer[] into, int count) {
        if (closed) {
            throw BlockIo.closed();
        }
        while (freeCount < count) {
            makeSlab(count);
        }
        for (int i = 0; i < count; i++) {
            BlockBuffer taken = free[--freeCount];
            taken.isTaken = true;
            into[i] = taken;
        }
    }

    private void makeSlab(int wanted) {
        int size = Math.min(SLAB_BUFFERS, most - made);
        if (size == 0) {
            throw new BlockBuffersExhaustedException(wanted, most, most - freeCount);
        }
        var memory = arena.allocate((long) size * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES);
        BlockBuffer[] more = Arrays.copyOf(free, made + size);
        for (int i = 0; i < size; i++) {
            more[freeCount + i] =
                    new BlockBuffer(this, memory.asSlice((long) i * BlockIo.BLOCK_BYTES, BlockIo.BLOCK_BYTES));
        }
        boolean first = made == 0;
        free = more;
        freeCount += size;
        made += size;
        if (first) {
            registered = queue.register(memory);
        }
    }

    /** Needs no memory: the stack has a place for every buffer. */
    synchronized void giveBack(BlockBuffer buffer) {
        if (!buffer.isTaken) {
            throw new IllegalStateException("a buffer must be given back once");
        }
        buffer.isTaken = false;
        if (!closed) {
            free[freeCount++] = buffer;
        }
    }

    synchronized int inUse() {
        return closed ? 0 : made - freeCount;
    }

    synchronized boolean isRegistered() {
        return registered;
    }

    /** Frees the memory; the kernel must hold none of it. */
    synchronized void close() {
        if (!closed) {
            arena.close();
            closed = true;
            free = NONE;
            freeCount = 0;
        }
    }
}
