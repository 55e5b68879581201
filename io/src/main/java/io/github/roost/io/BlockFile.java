package io.github.roost.io;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A file of 4-KiB blocks, read and written by direct I/O if the file system supports it. Searches read by {@link BlockReads};
 * {@link #read}, {@link #write} and {@link #sync} block the caller and are for builds and recovery.
 *
 * <p>Thread-safe. A closed file refuses new reads, but its descriptor stays open until the last read in flight has ended. The number of
 * users and a closed bit share one integer, changed by compare-and-set; the thread that makes it "closed and unused" closes the descriptor.
 * So no read can use a descriptor that already belongs to another file.
 */
public final class BlockFile implements AutoCloseable {
    private static final int CLOSED = Integer.MIN_VALUE;
    /** Maximum bytes per system call: whole blocks, and below the JDK's limit of a buffer. */
    private static final long MAX_BYTES = 8L << 20;

    private final BlockIo io;
    private final Path path;
    private final BlockDevice.DeviceFile device;
    private final AtomicInteger users = new AtomicInteger();
    private volatile long blocks;
    private volatile @Nullable IOException syncFailure;

    BlockFile(BlockIo io, Path path, BlockDevice.DeviceFile device) throws IOException {
        this.io = io;
        this.path = path;
        this.device = device;
        this.blocks = device.size() / BlockIo.BLOCK_BYTES;
    }

    /** {@return the path of the file} */
    public Path path() {
        return path;
    }

    /** {@return the number of whole blocks in the file} */
    public long blocks() {
        return blocks;
    }

    /**
     * Counts the blocks again, since another opener may have added some.
     *
     * @throws IOException if the device fails
     */
    public void countBlocks() throws IOException {
        acquire();
        try {
            long now = device.size() / BlockIo.BLOCK_BYTES;
            synchronized (this) {
                blocks = Math.max(blocks, now);
            }
        } finally {
            release();
        }
    }

    /** {@return whether reads and writes bypass the page cache} */
    public boolean isDirect() {
        return device.isDirect();
    }

    BlockDevice.DeviceFile device() {
        return device;
    }

    void resubmitted() {
        io.resubmitted();
    }

    void requireBlock(long block) {
        if (block < 0 || block >= blocks) {
            throw new IllegalArgumentException(
                    "block of " + path + " must be between 0 and " + (blocks - 1) + ", got " + block);
        }
    }

    /** Keeps the file open until {@link #release}. */
    void acquire() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                throw new IllegalStateException(path + " is closed");
            }
        } while (!users.compareAndSet(before, before + 1));
    }

    void release() {
        if (users.decrementAndGet() == CLOSED) {
            closeDevice();
        }
    }

    /**
     * Reads blocks; blocks the caller until they are read.
     *
     * @param block the number of the first block
     * @param into the target: off-heap, a whole number of blocks, aligned to 4 KiB
     * @throws IOException if the device fails or the file is too short
     */
    public void read(long block, MemorySegment into) throws IOException {
        transfer("read", block, into, device::read);
    }

    /**
     * Reads what the file has of its first block, of which a file that is shorter has a part, or nothing.
     *
     * @param into the target: off-heap, a block, aligned to 4 KiB; what the file does not have stays as it was
     * @return the length of the file in bytes
     * @throws IOException if the device fails
     */
    public long readFirst(MemorySegment into) throws IOException {
        requireBlocks(0, into);
        acquire();
        try {
            long length = device.size();
            int tries = 0;
            while (length > 0 && device.read(0, into) < Math.min(length, BlockIo.BLOCK_BYTES)) {
                if (++tries == BlockReads.Read.MAX_ATTEMPTS) {
                    throw new IOException("the device did not do all of it, " + tries + " times");
                }
            }
            return length;
        } catch (IOException failure) {
            throw BlockIoException.of("read", path, 0, failure);
        } finally {
            release();
        }
    }

    /**
     * Writes blocks; they are durable only after {@link #sync}.
     *
     * @param block the number of the first block; a block beyond the end extends the file
     * @param from the source: off-heap, a whole number of blocks, aligned to 4 KiB
     * @throws IOException if the device fails or is full; the content of the blocks is then undefined
     */
    public void write(long block, MemorySegment from) throws IOException {
        requireSynced();
        transfer("write", block, from, device::write);
        synchronized (this) {
            blocks = Math.max(blocks, block + from.byteSize() / BlockIo.BLOCK_BYTES);
        }
    }

    /** Transfers bytes between the file and memory; may transfer fewer than requested. */
    @FunctionalInterface
    private interface Transfer {
        int transfer(long offset, MemorySegment memory) throws IOException;
    }

    private void transfer(String what, long block, MemorySegment memory, Transfer transfer) throws IOException {
        requireBlocks(block, memory);
        acquire();
        try {
            long begin = block * BlockIo.BLOCK_BYTES;
            int fruitless = 0;
            for (long done = 0; done < memory.byteSize(); ) {
                MemorySegment piece = memory.asSlice(done, Math.min(MAX_BYTES, memory.byteSize() - done));
                int bytes = transfer.transfer(begin + done, piece);
                if (bytes <= 0) {
                    throw new EOFException("the file ends before the end of the block");
                }
                // Go on at a block boundary: only there is the rest aligned as the device requires.
                int whole = bytes - bytes % BlockIo.BLOCK_BYTES;
                if (whole == 0 && ++fruitless == BlockReads.Read.MAX_ATTEMPTS) {
                    throw new IOException("the device did not do all of it, " + fruitless + " times");
                }
                done += whole;
            }
        } catch (IOException failure) {
            throw BlockIoException.of(what, path, block, failure);
        } finally {
            release();
        }
    }

    private static void requireBlocks(long block, MemorySegment memory) {
        if (block < 0) {
            throw new IllegalArgumentException("block must be at least 0, got " + block);
        }
        if (!memory.isNative()
                || memory.byteSize() == 0
                || memory.byteSize() % BlockIo.BLOCK_BYTES != 0
                || memory.maxByteAlignment() < BlockIo.BLOCK_BYTES) {
            throw new IllegalArgumentException(
                    "memory must be of whole blocks, outside the heap and aligned to 4,096 bytes, got " + memory);
        }
    }

    /**
     * Makes all completed writes durable; blocks the caller until they are.
     *
     * @throws IOException if the device fails. Linux drops data that it could not write, so a later successful sync would prove nothing:
     *     the file then refuses writes and syncs until {@link #writeAgain}
     */
    public void sync() throws IOException {
        requireSynced();
        acquire();
        try {
            device.sync();
        } catch (IOException failure) {
            IOException named = new IOException("sync of " + path + " failed: " + failure.getMessage(), failure);
            syncFailure = named;
            throw named;
        } finally {
            release();
        }
    }

    /** {@return whether a sync has failed, so that writes are refused} */
    public boolean hasFailedSync() {
        return syncFailure != null;
    }

    /**
     * Takes writes again after a failed sync. The caller must write again, before the next sync, all blocks that count and that no successful sync
     * followed: only what is written again does the system try again.
     */
    public void writeAgain() {
        syncFailure = null;
    }

    private void requireSynced() throws IOException {
        IOException failure = syncFailure;
        if (failure != null) {
            throw new IOException(
                    path + " takes no more writes, since some may be lost: " + failure.getMessage(), failure);
        }
    }

    /** Refuses further reads and writes; those in flight end normally. Idempotent. */
    @Override
    public void close() {
        int before;
        do {
            before = users.get();
            if (before < 0) {
                return;
            }
        } while (!users.compareAndSet(before, before | CLOSED));
        if (before == 0) {
            closeDevice();
        }
    }

    private void closeDevice() {
        try {
            device.close();
        } catch (IOException failure) {
            io.closeFailed(path, failure);
        }
    }
}
