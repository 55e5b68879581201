package io.github.roost.io;

import io.github.roost.core.spi.CompletionSource.Waker;
import io.github.roost.io.linux.DirectFile;
import io.github.roost.io.linux.Errno;
import io.github.roost.io.linux.IoUring;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one worker, through a ring of its own: submitted by the slices that it runs, and reaped by its polls between slices.
 *
 * <p>Other threads than the worker's rarely come here: the old thread of a worker that was replaced while it was blocked may still submit,
 * the watch thread checks for completions, threads that open or close a file register it, and close waits for the last read. So a single lock, this, guards all state and is nearly
 * uncontended. Reads are ended outside the lock, so it is the innermost lock in Java.
 *
 * <p>A read is in one place at a time: waiting for room in the ring ({@link #waitingFirst}), in flight (in {@link #underWay}, at the tag
 * that the kernel returns), or in the list of ended reads. It moves between these under the lock by assignments alone, so no error can lose
 * it: the next poll does what an error left undone.
 *
 * <p>No wake-up is lost: {@link #arm} first enables signals and then checks for completions; the kernel first posts a completion and then,
 * after a full barrier, checks whether signals are enabled. So at least one of the two sees the other: either the worker stays awake, or
 * the event is signalled after the completion was posted, and the watch thread, which checks all rings after each signal, wakes the worker.
 */
final class UringQueue implements BlockDevice.Queue {
    private final IoUring ring;
    /** By tag. */
    private final BlockReads.@Nullable Read[] underWay;

    private final int[] freeTags;
    private int freeTagCount;
    private BlockReads.@Nullable Read waitingFirst;
    private BlockReads.@Nullable Read waitingLast;
    private int waiting;
    private BlockReads.@Nullable Read endedFirst;
    private BlockReads.@Nullable Read endedLast;
    private @Nullable Waker waker;
    private boolean armed;
    private boolean closed;
    private long reads;
    private long submits;
    /** Created once, so that reaping allocates nothing. */
    private final IoUring.Completion reaped = this::reaped;

    UringQueue(IoUring ring) {
        this.ring = ring;
        this.underWay = new BlockReads.Read[ring.entries()];
        this.freeTags = new int[ring.entries()];
        for (int tag = 0; tag < freeTags.length; tag++) {
            freeTags[tag] = tag;
        }
        this.freeTagCount = freeTags.length;
    }

    @Override
    public void wakes(Waker worker) {
        synchronized (this) {
            waker = worker;
        }
    }

    @Override
    public synchronized boolean register(MemorySegment memory) {
        return !closed && ring.register(memory);
    }

    /** Registers a file at a slot of the ring, or empties the slot if {@code file} is null. */
    synchronized boolean register(int slot, @Nullable DirectFile file) {
        return !closed && ring.register(slot, file);
    }

    @Override
    public void submit(BlockReads.Read first) {
        boolean refused;
        BlockReads.Read ended = null;
        synchronized (this) {
            refused = closed;
            if (!refused) {
                append(first);
                tellRing();
                ended = takeEnded();
            }
        }
        if (refused) {
            failAll(first);
        } else {
            deliver(ended);
        }
    }

    private void append(BlockReads.Read first) {
        if (waitingLast == null) {
            waitingFirst = first;
        } else {
            waitingLast.next = first;
        }
        for (BlockReads.Read read = first; read != null; read = read.next) {
            waitingLast = read;
            waiting++;
        }
    }

    /** Moves waiting reads into the ring, and submits them to the kernel. */
    private void tellRing() {
        while (waitingFirst != null && freeTagCount > 0) {
            BlockReads.Read read = waitingFirst;
            int tag = freeTags[freeTagCount - 1];
            UringDevice.RingFile file = (UringDevice.RingFile) read.device();
            ring.prepare(file.ring(), file.slot(), read.offset(), read.target(), tag);
            freeTagCount--;
            underWay[tag] = read;
            waitingFirst = read.next;
            read.next = null;
            if (waitingFirst == null) {
                waitingLast = null;
            }
            waiting--;
        }
        if (ring.unsubmitted() > 0) {
            submits++;
            int errno = ring.enter();
            if (errno != 0 && !Errno.isTransient(errno)) {
                ring.withdraw(reaped, errno);
            }
        }
    }

    private void reaped(int tag, int result) {
        BlockReads.Read read = underWay[tag];
        if (read == null) {
            return;
        }
        underWay[tag] = null;
        freeTags[freeTagCount++] = tag;
        reads++;
        read.result = result;
        if (endedLast == null) {
            endedFirst = read;
        } else {
            endedLast.next = read;
        }
        endedLast = read;
    }

    private BlockReads.@Nullable Read takeEnded() {
        BlockReads.Read ended = endedFirst;
        endedFirst = null;
        endedLast = null;
        return ended;
    }

    /** Calls {@link BlockReads.Read#ended} on all reads, even if one throws. Returns the number of reads. */
    private static int deliver(BlockReads.@Nullable Read ended) {
        int count = 0;
        Throwable thrown = null;
        for (BlockReads.Read read = ended; read != null; count++) {
            BlockReads.Read following = read.next;
            read.next = null;
            try {
                read.ended();
            } catch (Throwable one) {
                thrown = one;
            }
            read = following;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        return count;
    }

    private static void failAll(BlockReads.Read first) {
        for (BlockReads.Read read = first; read != null; ) {
            BlockReads.Read following = read.next;
            read.next = null;
            read.fails("the block I/O is closed");
            read = following;
        }
    }

    @Override
    public int poll() {
        BlockReads.Read ended;
        synchronized (this) {
            if (closed) {
                return 0;
            }
            if (armed) {
                disarm();
            }
            if (!anythingToDo()) {
                return 0;
            }
            ring.reap(reaped);
            tellRing();
            ended = takeEnded();
        }
        return deliver(ended);
    }

    @Override
    public synchronized boolean arm() {
        if (closed || inFlight() == 0) {
            return true;
        }
        ring.signals(true);
        armed = true;
        if (waker == null || anythingToDo()) {
            disarm();
            return false;
        }
        return true;
    }

    private boolean anythingToDo() {
        return ring.hasCompletions()
                || ring.unsubmitted() > 0
                || endedFirst != null
                || (waitingFirst != null && freeTagCount > 0);
    }

    private void disarm() {
        armed = false;
        ring.signals(false);
    }

    /** Called by the watch thread: wakes the worker if it sleeps and completions have arrived. */
    void wakeIfArrived() {
        Waker wakes = null;
        synchronized (this) {
            if (!closed && armed && ring.hasCompletions()) {
                disarm();
                wakes = waker;
            }
        }
        if (wakes != null) {
            wakes.wake();
        }
    }

    @Override
    public synchronized int inFlight() {
        return freeTags.length - freeTagCount + waiting;
    }

    @Override
    public synchronized BlockDevice.Counts counts() {
        return new BlockDevice.Counts(reads, submits);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            ring.close();
        }
    }
}
