package io.github.roost.core.io;

import io.github.roost.core.task.Pending;
import io.github.roost.core.task.SearchContext;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one search. A slice begins some and parks on {@link #any} or {@link #all}; the slice after it takes those that have
 * ended by {@link #next}, and gives each back before it ends itself:
 *
 * <pre>{@code
 * reads.read(context, file, blocks, 4);
 * return new Step.Park<>(reads.all(), this::blocksAreThere);
 * }</pre>
 *
 * <p>Whoever submits the search closes this when the search is over, whether it has ended by itself, was cancelled while it was
 * parked, or came too late: reads still under way then free their buffers as they end.
 *
 * <p>Thread-safe: one slice at a time calls {@link #read}, {@link #next} and {@link #giveBack}, reads end in any thread, and
 * {@link #close} comes from any. All state is guarded by this; no other lock is taken and no {@link Pending} completed under it.
 * A read is counted before its queue knows it and counted off once, when it has ended. So the count is 0 only when nothing
 * is under way, and whoever makes a pending sees under the lock either the read that ended before or leaves the pending to the one
 * that ends later: no wake-up is lost. What a read has put into its buffer was written before it ended, and is read by a slice
 * that took it out of the list, under the same lock.
 */
public final class BlockReads implements AutoCloseable {
    private static final int MIN_BUFFERS = 8;

    private final BlockIo io;
    /** The slice's alone. */
    private BlockBuffer[] taken = new BlockBuffer[MIN_BUFFERS];

    private int inFlight;
    private @Nullable BlockRead first;
    private @Nullable BlockRead last;
    private @Nullable Pending waiting;
    private boolean waitsForAll;
    private boolean closed;

    BlockReads(BlockIo io) {
        this.io = io;
    }

    /**
     * Begins reads, all with one call of the device. Never waits for them.
     *
     * @param context of the slice that runs
     * @param file open
     * @param blocks numbers of blocks in the file
     * @param count how many of them, from the first on; at least 1
     * @throws BlockBuffersExhaustedException if too many searches read at once; then none has begun
     * @throws IllegalArgumentException if a block is outside the file; then none has begun
     * @throws IllegalStateException if the file or the block I/O is closed; then none has begun
     * @throws CancellationException if this is closed: nobody waits for the search any more
     */
    public void read(SearchContext context, BlockFile file, long[] blocks, int count) {
        read(context, file, blocks, 0, count, false);
    }

    /**
     * Begins reads as {@link #read} does, with one read of the device for blocks that follow each other in the file and for which there are buffers that do so in
     * memory: up to 32 of them, 128 KiB. Blocks end, fail and are given back one by one all the same.
     *
     * @param context of the slice that runs
     * @param file open
     * @param blocks numbers of blocks in the file; in ascending order, if any are to be read together
     * @param from the first of them
     * @param to behind the last one, above {@code from}
     * @throws BlockBuffersExhaustedException if too many searches read at once; then none has begun
     * @throws IllegalArgumentException if a block is outside the file; then none has begun
     * @throws IllegalStateException if the file or the block I/O is closed; then none has begun
     * @throws CancellationException if this is closed: nobody waits for the search any more
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
        BlockRead chain = null;
        int acquired = 0;
        try {
            for (; acquired < count; acquired++) {
                file.acquire();
            }
            for (int i = count - 1; i >= 0; i--) {
                BlockRead read = new BlockRead(this, file, blocks[from + i], taken[i], lane.queue());
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

    /** Counts reads that a queue is about to know. */
    synchronized void begin(int count) {
        if (closed) {
            throw new CancellationException("the search is over");
        }
        inFlight += count;
    }

    /** {@return the reads that have not ended} */
    public synchronized int inFlight() {
        return inFlight;
    }

    /** {@return a read that has ended, in the order in which they end, or null for none} */
    public synchronized @Nullable BlockRead next() {
        BlockRead read = first;
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
     * @param read of {@link #next}, given back once
     */
    public void giveBack(BlockRead read) {
        read.giveBackBuffer();
    }

    /** {@return completed as soon as {@link #next} has a read, or none is under way; to park on once} */
    public Pending any() {
        return pending(false);
    }

    /** {@return completed as soon as no read is under way; to park on once} */
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

    /** A read has ended; called once for each, without any lock held. */
    void ended(BlockRead read) {
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

    /** The search is over: frees what has ended, now, and what has not, when it has. Any thread; more than once does nothing. */
    @Override
    public void close() {
        BlockRead left;
        synchronized (this) {
            closed = true;
            left = first;
            first = null;
            last = null;
        }
        while (left != null) {
            BlockRead following = left.next;
            left.giveBackBuffer();
            left = following;
        }
    }
}
