package io.github.roost.core.io;

import io.github.roost.core.task.CompletionSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * What block I/O runs on: rings, a pool of threads, or the faults of a test. Knows files, reads and writes; what is short, is
 * to be tried again, or has failed, and what follows from it, is {@link BlockRead}'s.
 */
interface BlockDevice {
    /** {@return how it reads, in a few words for reports} */
    String name();

    /**
     * Opens a file.
     *
     * @param file whose length is a multiple of the block size, as far as it is read
     * @param writable whether to write it as well, and to make it where there is none
     * @return open
     * @throws IOException if it cannot be opened
     */
    DeviceFile open(Path file, boolean writable) throws IOException;

    /**
     * Makes a queue of reads, for one worker, or for all threads that are no workers.
     *
     * @return empty
     * @throws IllegalStateException if the system refuses one more
     */
    Queue queue();

    /** Ends its threads; called when no queue has reads any more. */
    default void close() {}

    /** An open file. Thread-safe. Blocking calls; those of one call may be fewer bytes than asked for. */
    interface DeviceFile {
        /**
         * Reads.
         *
         * @param offset byte in the file
         * @param into where to, outside the heap, aligned as its block
         * @return how many bytes, -1 at the end of the file
         * @throws IOException if the device fails
         */
        int read(long offset, MemorySegment into) throws IOException;

        /**
         * Writes.
         *
         * @param offset byte in the file
         * @param from where from, outside the heap, aligned as its block
         * @return how many bytes
         * @throws IOException if the device fails or is full
         */
        int write(long offset, MemorySegment from) throws IOException;

        /**
         * Has all that was written survive a loss of power.
         *
         * @throws IOException if the device fails: then what was written since the last sync may be lost
         */
        void sync() throws IOException;

        /**
         * {@return its length in bytes}
         *
         * @throws IOException if the system does not say
         */
        long size() throws IOException;

        /** {@return whether reads and writes bypass the page cache} */
        boolean isDirect();

        /**
         * Closes it; called once, when nothing uses it.
         *
         * @throws IOException if the system reports an earlier failure
         */
        void close() throws IOException;
    }

    /**
     * Reads under way. Each that is submitted ends once, by a call of {@link BlockRead#ended}, without any lock of the queue held:
     * in the thread that polls, or in one of the device.
     */
    interface Queue extends CompletionSource {
        /**
         * Begins reads. Thread-safe; never waits for them.
         *
         * @param first linked by {@link BlockRead#next}
         */
        void submit(BlockRead first);

        /** {@return reads that have not ended} */
        int inFlight();

        @Override
        default int underWay() {
            return inFlight();
        }

        /**
         * Says where reads will go, so that the device can prepare for it; they may go elsewhere too.
         *
         * @param memory outside the heap, valid until the queue is closed
         * @return whether that makes reads cheaper
         */
        default boolean register(MemorySegment memory) {
            return false;
        }

        /** {@return counts since it was made} */
        Counts counts();

        /**
         * Has a worker woken by {@link #arm}; called before the first.
         *
         * @param waker wakes it
         */
        void wakes(Waker waker);

        /** Frees what it has; called once, with no reads under way; later submissions fail. */
        void close();
    }

    /**
     * What a queue has done.
     *
     * @param reads ended
     * @param submits calls that told the device of reads
     */
    record Counts(long reads, long submits) {}
}
