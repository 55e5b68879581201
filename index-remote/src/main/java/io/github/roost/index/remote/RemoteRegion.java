package io.github.roost.index.remote;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A piece of remote memory. Numbers in it are little-endian. Thread-safe: transfers of several threads go on at once, in no order
 * among each other. A future that has failed has a {@link RemoteMemoryException}, and says nothing about how much was transferred. The
 * region completes a future, well or not, when it does not touch the transfers' local memory any more; who will not wait so long
 * gives up a {@linkplain CompletableFuture#copy copy} of it.
 */
public interface RemoteRegion extends AutoCloseable {
    /**
     * Bytes to transfer.
     *
     * @param offset of the first byte in the region, at least 0
     * @param local where they are copied to or from; all of it, native memory. It must stay accessible until the region has completed the
     *     transfer's future, or is closed
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
     * @param transfers at least one; a piece of 8 bytes at a multiple of 8 is read as one
     * @return completes when all bytes are there; what the owner had written before it wrote one of them is seen by a get that begins
     *     after this
     */
    CompletableFuture<Void> get(List<Transfer> transfers);

    /**
     * Writes several pieces by one request to the network card.
     *
     * @param transfers at least one; a piece of 8 bytes at a multiple of 8 is written as one
     * @return completes when all bytes are in the region, for every reader
     */
    CompletableFuture<Void> put(List<Transfer> transfers);

    /**
     * Replaces a number if it is as expected.
     *
     * @param offset of the number, a multiple of 8
     * @param expected what it must be
     * @param next what it becomes then
     * @return completes with what the number was: {@code expected} if it was replaced
     */
    CompletableFuture<Long> compareAndSet(long offset, long expected, long next);

    /** Ends the use of the region; transfers under way may fail. */
    @Override
    void close();
}
