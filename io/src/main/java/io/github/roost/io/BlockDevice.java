package io.github.roost.io;

import io.github.roost.core.spi.CompletionSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * The backend of block I/O: rings, a pool of threads, or a test's fault injection. It only opens, reads and writes files; {@link BlockReads.Read}
 * handles short reads, retries and failures.
 */
interface BlockDevice {
    /** {@return the name of the backend in reports} */
    String name();

    /**
     * Opens a file.
     *
     * @param file the file; all blocks that are read must be whole
     * @param writable whether to open it for writing too, and to create it if it does not exist
     * @return the open file
     * @throws IOException if it cannot be opened
     */
    DeviceFile open(Path file, boolean writable) throws IOException;

    /**
     * Creates a queue of reads for one worker, or for all threads that are not workers.
     *
     * @return an empty queue
     * @throws IllegalStateException if the system refuses another queue
     */
    Queue queue();

    /** Ends its threads; called when no queue has reads in flight. */
    default void close() {}

    /** An open file. Thread-safe. Calls block, and may transfer fewer bytes than requested. */
    interface DeviceFile {
        /**
         * Reads.
         *
         * @param offset the byte offset in the file
         * @param into the target, off-heap and aligned to the block size
         * @return the number of bytes read, -1 at the end of the file
         * @throws IOException if the device fails
         */
        int read(long offset, MemorySegment into) throws IOException;

        /**
         * Writes.
         *
         * @param offset the byte offset in the file
         * @param from the source, off-heap and aligned to the block size
         * @return how many bytes
         * @throws IOException if the device fails or is full
         */
        int write(long offset, MemorySegment from) throws IOException;

        /**
         * Makes all completed writes durable.
         *
         * @throws IOException if the device fails; writes since the last sync may then be lost
         */
        void sync() throws IOException;

        /**
         * {@return the length in bytes}
         *
         * @throws IOException if the system call fails
         */
        long size() throws IOException;

        /** {@return whether reads and writes bypass the page cache} */
        boolean isDirect();

        /**
         * Closes the file; called once, when it is not in use.
         *
         * @throws IOException if the system reports an earlier failure
         */
        void close() throws IOException;
    }

    /**
     * A queue of reads. Each submitted read ends once, by a call of {@link BlockReads.Read#ended} without any lock of the queue held, in the
     * thread that polls, in a thread of the device, or, if the device blocks, in the thread that submits.
     */
    interface Queue extends CompletionSource {
        /**
         * Starts reads. Thread-safe; waits for them only if the device blocks.
         *
         * @param first the first read of a list linked by {@link BlockReads.Read#next}
         */
        void submit(BlockReads.Read first);

        /** {@return the number of reads that have not ended} */
        int inFlight();

        @Override
        default int underWay() {
            return inFlight();
        }

        /**
         * Registers the memory that most reads will go to, so that the device can prepare for it.
         *
         * @param memory off-heap memory, valid until the queue is closed
         * @return whether the device registered it
         */
        default boolean register(MemorySegment memory) {
            return false;
        }

        /** {@return counts since the queue was created} */
        Counts counts();

        /**
         * Sets the waker used after {@link #arm}; called before the first {@code arm}.
         *
         * @param waker wakes the worker
         */
        void wakes(Waker waker);

        /** Frees its resources; called once, without reads in flight; later submissions fail. */
        void close();
    }

    /**
     * Counts of a queue.
     *
     * @param reads reads that have ended
     * @param submits calls that submitted reads to the device
     */
    record Counts(long reads, long submits) {}
}
