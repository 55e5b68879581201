package io.github.roost.index.remote;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A provider of remote memory: a set of regions in other processes or machines. Where the hardware can, reads and writes do not involve the
 * owner's processor (one-sided). Thread-safe.
 */
public interface RemoteMemory extends AutoCloseable {
    /**
     * A provider whose regions are files mapped by every process that uses them: in {@code /dev/shm}, shared memory of one host; on a DAX
     * or CXL mount, memory elsewhere. Transfers succeed after the owner has died, so only the region's heartbeat shows its death. A region
     * is writable if its file is.
     *
     * @param folder such as {@code /dev/shm}
     * @return the provider of the files in the folder; names that lead out of it are refused
     */
    static RemoteMemory mapped(Path folder) {
        return new MappedMemory(Objects.requireNonNull(folder, "folder must not be null"));
    }

    /**
     * Opens a region.
     *
     * @param region its name at the provider
     * @return the region, to be closed
     * @throws IOException if there is no region of that name, or it cannot be reached
     */
    Region open(String region) throws IOException;

    /** Closes the provider; its regions must be closed first. */
    @Override
    void close();

    /**
     * A region of remote memory. Numbers in it are little-endian. Thread-safe: transfers of several threads run concurrently and in no order. A
     * failed future has a {@link RemoteMemoryException}; any part of its bytes may have been transferred. The region completes a future, normally or
     * exceptionally, only when it does not touch the transfers' local memory any more; to stop waiting earlier, put the timeout on a
     * {@linkplain CompletableFuture#copy copy} of the future.
     */
    interface Region extends AutoCloseable {
        /**
         * A contiguous range of bytes to transfer.
         *
         * @param offset of the first byte in the region, at least 0
         * @param local source or destination, all of it; native memory. It must stay accessible until the region has completed the transfer's future,
         *     or is closed
         */
        record Transfer(long offset, MemorySegment local) {}

        /** {@return the region's name in messages} */
        String name();

        /** {@return the region's size in bytes} */
        long bytes();

        /** {@return whether this process may write to the region} */
        boolean isWritable();

        /**
         * Reads several pieces by one request to the network card (one doorbell).
         *
         * @param transfers at least one; a piece of 8 bytes at a multiple of 8 is read atomically
         * @return completes when all bytes have arrived; everything that the owner wrote before one of these bytes is visible to a get that begins
         *     afterwards
         */
        CompletableFuture<Void> get(List<Transfer> transfers);

        /**
         * Writes several pieces by one request to the network card.
         *
         * @param transfers at least one; a piece of 8 bytes at a multiple of 8 is written atomically
         * @return completes when all bytes are in the region and visible to every reader
         */
        CompletableFuture<Void> put(List<Transfer> transfers);

        /**
         * Atomically replaces a 64-bit number if it has the expected value.
         *
         * @param offset of the number, a multiple of 8
         * @param expected the value to be replaced
         * @param next the new value
         * @return completes with the value found: {@code expected} if it was replaced
         */
        CompletableFuture<Long> compareAndSet(long offset, long expected, long next);

        /** Closes this process's access to the region; transfers in progress may fail. */
        @Override
        void close();
    }
}
