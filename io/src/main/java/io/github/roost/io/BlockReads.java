package io.github.roost.io;

import io.github.roost.core.SearchContext;
import io.github.roost.core.spi.Pending;
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
    private @Nullable BlockRead first;
    private @Nullable BlockRead last;
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
     * @throws BlockBuffersExhaustedException if the worker has too few free buffers; then no read has started
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
     * @throws BlockBuffersExhaustedException if the worker has too few free buffers; then no read has started
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
     * @param read a read returned by {@link #next}; must be given back once
     */
    public void giveBack(BlockRead read) {
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

    /** Ends the reads of the search: frees the buffers of ended reads now, and the others when their reads end. Idempotent; any thread. */
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
