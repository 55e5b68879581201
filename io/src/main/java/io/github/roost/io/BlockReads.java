package io.github.roost.io;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
import io.github.roost.io.linux.Errno;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one search. A slice starts reads and parks on {@link #any} or {@link #all}; the next slice takes the ended reads by {@link #next},
 * and gives each back before the slice ends:
 *
 * <pre>{@code
 * reads.read(context, file, blocks, 4);
 * return new Step.Park<>(reads.all(), this::blocksAreThere);
 * }</pre>
 *
 * <p>The submitter of the search closes this when the search is over, whether it has completed, was cancelled while parked, or has expired. Reads
 * still in flight then free their buffers when they end.
 *
 * <p>Thread-safe: one slice at a time calls {@link #read}, {@link #next} and {@link #giveBack}; reads may end, and {@link #close} may be called, in
 * any thread. All state is guarded by this; under the lock no other lock is taken and no {@link Pending} completed. A read is counted before it is
 * submitted to its queue, and counted off once, when it has ended. So the count is 0 only if no read is in flight, and a new pending either sees an
 * ended read under the lock or is completed by a read that ends later: no wake-up is lost. The bytes in a buffer are written before the read ends,
 * and a slice takes the read under the same lock, so it sees them.
 */
public final class BlockReads implements AutoCloseable {
    private static final int MIN_BUFFERS = 8;

    private final BlockIo io;
    /** Used only by the running slice. */
    private BlockBuffer[] taken = new BlockBuffer[MIN_BUFFERS];

    private int inFlight;
    private @Nullable Read first;
    private @Nullable Read last;
    private @Nullable Pending waiting;
    private boolean waitsForAll;
    private boolean closed;

    BlockReads(BlockIo io) {
        this.io = io;
    }

    /**
     * Starts reads, submitted together. Does not wait for them, except with {@link BlockIo.Backend#BLOCKING}.
     *
     * @param context the context of the running slice
     * @param file an open file
     * @param blocks numbers of blocks in the file
     * @param count the number of entries of {@code blocks} to read, from the first; at least 1
     * @throws BuffersExhaustedException if the worker has too few free buffers; then no read has started
     * @throws IllegalArgumentException if a block is outside the file; then no read has started
     * @throws IllegalStateException if the file or the block I/O is closed; then no read has started
     * @throws CancellationException if this is closed, since the search is over
     */
    public void read(SearchContext context, BlockFile file, long[] blocks, int count) {
        read(context, file, blocks, 0, count, false);
    }

    /**
     * Starts reads like {@link #read}, but merges adjacent blocks into device reads of up to 32 blocks (128 KiB), if contiguous buffers are free.
     * Blocks still end, fail and are given back one by one.
     *
     * @param context the context of the running slice
     * @param file an open file
     * @param blocks numbers of blocks in the file; only ascending neighbors in the array are merged
     * @param from the first entry of {@code blocks} to read
     * @param to the entry after the last, above {@code from}
     * @throws BuffersExhaustedException if the worker has too few free buffers; then no read has started
     * @throws IllegalArgumentException if a block is outside the file; then no read has started
     * @throws IllegalStateException if the file or the block I/O is closed; then no read has started
     * @throws CancellationException if this is closed, since the search is over
     */
    public void readMerged(SearchContext context, BlockFile file, long[] blocks, int from, int to) {
        read(context, file, blocks, from, to, true);
    }

    private void read(SearchContext context, BlockFile file, long[] blocks, int from, int to, boolean isMerged) {
        Objects.checkFromToIndex(from, to, blocks.length);
        for (int i = from; i < to; i++) {
            file.requireBlock(blocks[i]);
        }
        int count = to - from;
        if (count == 0) {
            throw new IllegalArgumentException("at least one block must be read, got none");
        }
        if (taken.length < count) {
            taken = new BlockBuffer[count];
        }
        BlockIo.Lane lane = io.lane(context);
        lane.buffers().take(taken, count);
        Read chain = null;
        int acquired = 0;
        try {
            for (; acquired < count; acquired++) {
                file.acquire();
            }
            for (int i = count - 1; i >= 0; i--) {
                Read read = new Read(this, file, blocks[from + i], taken[i], lane.queue());
                if (isMerged && chain != null && read.takesAlong(chain)) {
                    read.next = chain.next;
                    chain.next = null;
                } else {
                    read.next = chain;
                }
                chain = read;
            }
            begin(count);
        } catch (Throwable refused) {
            for (int i = 0; i < count; i++) {
                taken[i].giveBack();
            }
            for (int i = 0; i < acquired; i++) {
                file.release();
            }
            throw refused;
        }
        lane.queue().submit(Objects.requireNonNull(chain));
    }

    /** Counts reads that are about to be submitted. */
    synchronized void begin(int count) {
        if (closed) {
            throw new CancellationException("the search is over");
        }
        inFlight += count;
    }

    /** {@return the number of reads that have not ended} */
    public synchronized int inFlight() {
        return inFlight;
    }

    /** {@return the next ended read, in the order in which reads end, or null if there is none} */
    public synchronized @Nullable Read next() {
        Read read = first;
        if (read != null) {
            first = read.next;
            if (first == null) {
                last = null;
            }
            read.next = null;
        }
        return read;
    }

    /**
     * Frees the buffer of a read.
     *
     * @param read a read returned by {@link #next}; must be given back once
     */
    public void giveBack(Read read) {
        read.giveBackBuffer();
    }

    /** {@return a pending that completes when {@link #next} has a read, or no read is in flight; to be parked on once} */
    public Pending any() {
        return pending(false);
    }

    /** {@return a pending that completes when no read is in flight; to be parked on once} */
    public Pending all() {
        return pending(true);
    }

    private Pending pending(boolean all) {
        Pending pending = new Pending();
        synchronized (this) {
            waitsForAll = all;
            if (!isThere()) {
                waiting = pending;
                return pending;
            }
        }
        pending.complete();
        return pending;
    }

    private boolean isThere() {
        return inFlight == 0 || (!waitsForAll && first != null);
    }

    /** Called once per read when it has ended, without any lock held. */
    void ended(Read read) {
        Pending complete = null;
        boolean nobody;
        synchronized (this) {
            inFlight--;
            nobody = closed;
            if (!nobody) {
                if (last == null) {
                    first = read;
                } else {
                    last.next = read;
                }
                last = read;
            }
            if (waiting != null && isThere()) {
                complete = waiting;
                waiting = null;
            }
        }
        if (nobody) {
            read.giveBackBuffer();
        }
        if (complete != null) {
            complete.complete();
        }
    }

    /** Ends the reads of the search: frees the buffers of ended reads now, and the others when their reads end. Idempotent; any thread. */
    @Override
    public void close() {
        Read left;
        synchronized (this) {
            closed = true;
            left = first;
            first = null;
            last = null;
        }
        while (left != null) {
            Read following = left.next;
            left.giveBackBuffer();
            left = following;
        }
    }

    /** Thrown if a search needs more buffers than its worker has free. */
    public static final class BuffersExhaustedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** Whether the search needs more buffers than the worker may have. */
        private final boolean isForGood;

        BuffersExhaustedException(int wanted, int max, int inUse) {
            super("a search needs " + wanted + " buffers of 4 KiB, and " + inUse + " of its worker's " + max
                    + " are in use: fewer searches at once, or a larger limit");
            this.isForGood = wanted > max;
        }

        /** {@return whether the search needs more buffers than the worker may have, so that a retry is futile} */
        public boolean isForGood() {
            return isForGood;
        }
    }

    /**
     * The read of one block, and its result. A read returned by {@link BlockReads#next} belongs to the slice that took it; the slice gives it back
     * before it ends.
     *
     * <p>Adjacent blocks may be merged into one device read, that of the first block, with the following reads as its riders. If it does not read all
     * blocks, the missing blocks are read one by one, so that each fails by itself.
     *
     * <p>Until it ends, a read is owned by its queue and written by the thread that ends it; then by its group, whose lock publishes it to the slice.
     */
    public static final class Read {
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
        private @Nullable Read rider;
        /** Number of blocks of the device read: 1 plus the riders. */
        private int blocks = 1;

        private int attempts;
        private @Nullable IOException failure;

        /** The next read in the list of its present owner. */
        @Nullable
        Read next;

        /** Bytes read or a negative errno; set by the device before {@link #ended()}. */
        int result;

        Read(BlockReads group, BlockFile file, long block, BlockBuffer buffer, BlockDevice.Queue queue) {
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
        boolean takesAlong(Read following) {
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

        /** Ends a merged read of which the first {@code there} blocks were read; submits the rest one by one. */
        private void endedTogether(int there) {
            if (there >= blocks) {
                over();
                return;
            }
            Read missing = this;
            Read last = null;
            for (int i = 0; i < there; i++) {
                last = missing;
                missing = Objects.requireNonNull(missing.rider);
            }
            blocks = 1;
            for (Read read = missing; read != null; ) {
                Read following = read.rider;
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
            for (Read read = this; read != null; read = read.rider) {
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
            Read following = rider;
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
}
