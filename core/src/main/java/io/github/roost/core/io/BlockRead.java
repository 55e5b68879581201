package io.github.roost.core.io;

import io.github.roost.core.io.linux.Errno;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One block on its way into memory, and what came of it. What {@link BlockReads#next} returns belongs to the slice that took
 * it, which gives it back before it ends.
 *
 * <p>Adjacent blocks may go to the device as one read, that of the first one, which the others ride with. If that read does not bring all of them, those that it
 * did not bring are read one by one: so each fails by itself.
 *
 * <p>Until it has ended it is its queue's, and written by whoever ends it; then its group's, whose lock publishes it to the
 * slice.
 */
public final class BlockRead {
    /** Reads that end short, or are to be tried again, this often in a row have failed. */
    static final int MAX_ATTEMPTS = 16;
    /** Blocks of one read of the device, at most: 128 KiB. */
    static final int MAX_BLOCKS = 32;

    private final BlockReads group;
    private final BlockFile file;
    private final long block;
    private final BlockBuffer buffer;
    private final BlockDevice.Queue queue;
    /** The read of the next block, which rides with this one. */
    private @Nullable BlockRead rider;
    /** How many blocks the device is to read: 1, and those that ride with it. */
    private int blocks = 1;

    private int attempts;
    private @Nullable IOException failure;

    /** The next one of a list; its owner's. */
    @Nullable
    BlockRead next;

    /** Bytes read or a negative error, between the device and {@link #ended()}. */
    int result;

    BlockRead(BlockReads group, BlockFile file, long block, BlockBuffer buffer, BlockDevice.Queue queue) {
        this.group = group;
        this.file = file;
        this.block = block;
        this.buffer = buffer;
        this.queue = queue;
    }

    /**
     * Has the read of the next block ride with this one, if that block lies behind this one both in the file and in memory.
     *
     * @return whether it does; then the device must not be told of it
     */
    boolean takesAlong(BlockRead following) {
        if (following.block != block + 1 || following.blocks == MAX_BLOCKS || !buffer.isBefore(following.buffer)) {
            return false;
        }
        rider = following;
        blocks = 1 + following.blocks;
        following.blocks = 1;
        return true;
    }

    /** {@return the number of the block in its file} */
    public long block() {
        return block;
    }

    /** {@return what it failed with, or null if all of the block is there} */
    public @Nullable IOException failure() {
        return failure;
    }

    /**
     * The block.
     *
     * @return 4,096 bytes outside the heap, aligned as much; valid until the read is given back
     * @throws IllegalStateException if the read has failed
     */
    public MemorySegment memory() {
        if (failure != null) {
            throw new IllegalStateException("nothing was read: " + failure.getMessage(), failure);
        }
        return buffer.memory();
    }

    BlockDevice.DeviceFile device() {
        return file.device();
    }

    /** Where the device is to read. */
    long offset() {
        return block * BlockIo.BLOCK_BYTES;
    }

    /** What it is to read into: all of the block, since nothing smaller is sure to be aligned as the device wants it. */
    MemorySegment target() {
        return blocks == 1 ? buffer.memory() : buffer.memory(blocks);
    }

    void giveBackBuffer() {
        buffer.giveBack();
    }

    /** The device is done with it, as {@link #result} says. Called with no lock held. */
    void ended() {
        if (blocks > 1) {
            endedTogether(Math.max(0, result) / BlockIo.BLOCK_BYTES);
        } else if (result < 0 && !Errno.isTransient(-result)) {
            fails(Errno.name(-result));
        } else if (result == 0) {
            failsWith(new EOFException("the file ends before the end of the block"));
        } else if (result == BlockIo.BLOCK_BYTES) {
            over();
        } else if (++attempts == MAX_ATTEMPTS) {
            fails("the device did not return all of it, " + MAX_ATTEMPTS + " times");
        } else {
            file.resubmitted();
            queue.submit(this);
        }
    }

    /** So many of the blocks are there; others are read by themselves. */
    private void endedTogether(int there) {
        if (there >= blocks) {
            over();
            return;
        }
        BlockRead missing = this;
        BlockRead last = null;
        for (int i = 0; i < there; i++) {
            last = missing;
            missing = Objects.requireNonNull(missing.rider);
        }
        blocks = 1;
        for (BlockRead read = missing; read != null; ) {
            BlockRead following = read.rider;
            read.rider = null;
            read.next = following;
            file.resubmitted();
            read = following;
        }
        if (last != null) {
            last.rider = null;
        }
        try {
            queue.submit(missing);
        } finally {
            if (last != null) {
                over();
            }
        }
    }

    void fails(String why) {
        for (BlockRead read = this; read != null; read = read.rider) {
            read.failure = new BlockIoException("read", file.path(), read.block, why);
        }
        over();
    }

    /** The device has failed. Called with no lock held. */
    void failsWith(Throwable cause) {
        if (blocks > 1) {
            endedTogether(0);
            return;
        }
        failure = BlockIoException.of("read", file.path(), block, cause);
        over();
    }

    /** Tells the group of it and of those that ride with it, all of them, whatever one of them throws. */
    private void over() {
        BlockRead following = rider;
        rider = null;
        blocks = 1;
        try {
            file.release();
            group.ended(this);
        } finally {
            if (following != null) {
                following.over();
            }
        }
    }
}
