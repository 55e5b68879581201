package io.github.roost.io;

import io.github.roost.io.linux.Errno;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The read of one block, and its result. A read returned by {@link BlockReads#next} belongs to the slice that took it; the slice gives it back
 * before it ends.
 *
 * <p>Adjacent blocks may be merged into one device read, that of the first block, with the following reads as its riders. If it does not read all
 * blocks, the missing blocks are read one by one, so that each fails by itself.
 *
 * <p>Until it ends, a read is owned by its queue and written by the thread that ends it; then by its group, whose lock publishes it to the slice.
 */
public final class BlockRead {
    /** A read that is short or has a transient error this many times in a row has failed. */
    static final int MAX_ATTEMPTS = 16;
    /** Maximum number of blocks per device read: 128 KiB. */
    static final int MAX_BLOCKS = 32;

    private final BlockReads group;
    private final BlockFile file;
    private final long block;
    private final BlockBuffer buffer;
    private final BlockDevice.Queue queue;
    /** The read of the next block, merged into this one. */
    private @Nullable BlockRead rider;
    /** Number of blocks of the device read: 1 plus the riders. */
    private int blocks = 1;

    private int attempts;
    private @Nullable IOException failure;

    /** The next read in the list of its present owner. */
    @Nullable
    BlockRead next;

    /** Bytes read or a negative errno; set by the device before {@link #ended()}. */
    int result;

    BlockRead(BlockReads group, BlockFile file, long block, BlockBuffer buffer, BlockDevice.Queue queue) {
        this.group = group;
        this.file = file;
        this.block = block;
        this.buffer = buffer;
        this.queue = queue;
    }

    /**
     * Merges the read of the next block into this one, if that block follows this one both in the file and in memory.
     *
     * @return whether it was merged; then it must not be submitted itself
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

    /** {@return the failure, or null if the block was read} */
    public @Nullable IOException failure() {
        return failure;
    }

    /**
     * Returns the content of the block.
     *
     * @return 4,096 off-heap bytes, aligned to 4,096; valid until the read is given back
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

    /** The byte offset of the read in the file. */
    long offset() {
        return block * BlockIo.BLOCK_BYTES;
    }

    /** The target of the read: always whole blocks, since less might not be aligned as the device requires. */
    MemorySegment target() {
        return blocks == 1 ? buffer.memory() : buffer.memory(blocks);
    }

    void giveBackBuffer() {
        buffer.giveBack();
    }

    /** Called by the queue when the device has set {@link #result}, without a lock held. */
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

    /** Ends a merged read of which the first {@code present} blocks were read; submits the rest one by one. */
    private void endedTogether(int present) {
        if (present >= blocks) {
            over();
            return;
        }
        BlockRead missing = this;
        BlockRead last = null;
        for (int i = 0; i < present; i++) {
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

    /** Called when the device read has thrown, without a lock held. */
    void failsWith(Throwable cause) {
        if (blocks > 1) {
            endedTogether(0);
            return;
        }
        failure = BlockIoException.of("read", file.path(), block, cause);
        over();
    }

    /** Reports this read and all its riders to the group, even if one of the reports throws. */
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
