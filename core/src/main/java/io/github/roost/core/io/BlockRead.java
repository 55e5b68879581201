package io.github.roost.core.io;

import io.github.roost.core.io.linux.Errno;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One block on its way into memory, and what came of it. What {@link BlockReads#next} returns belongs to the slice that took
 * it, which gives it back before it ends.
 *
 * <p>Until it has ended it is its queue's, and written by whoever ends it; then its group's, whose lock publishes it to the
 * slice.
 */
public final class BlockRead {
    /** Reads that end short, or are to be tried again, this often in a row have failed. */
    static final int MOST_ATTEMPTS = 16;

    private final BlockReads group;
    private final BlockFile file;
    private final long block;
    private final BlockBuffer buffer;
    private final BlockDevice.Queue queue;
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
        return buffer.memory();
    }

    void giveBackBuffer() {
        buffer.giveBack();
    }

    /** The device is done with it, as {@link #result} says. Called with no lock held. */
    void ended() {
        if (result < 0 && !Errno.isTransient(-result)) {
            fails(Errno.name(-result));
        } else if (result == 0) {
            failsWith(new EOFException("the file ends before the end of the block"));
        } else if (result == BlockIo.BLOCK_BYTES) {
            over();
        } else if (++attempts == MOST_ATTEMPTS) {
            fails("the device did not return all of it, " + MOST_ATTEMPTS + " times");
        } else {
            file.resubmitted();
            queue.submit(this);
        }
    }

    void fails(String why) {
        failure = new BlockIoException("read", file.path(), block, why);
        over();
    }

    /** The device has failed. Called with no lock held. */
    void failsWith(Throwable cause) {
        failure = BlockIoException.of("read", file.path(), block, cause);
        over();
    }

    private void over() {
        file.release();
        group.ended(this);
    }
}
