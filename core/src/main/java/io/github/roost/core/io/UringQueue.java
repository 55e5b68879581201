package io.github.roost.core.io;

import io.github.roost.core.io.linux.Errno;
import io.github.roost.core.io.linux.IoUring;
import io.github.roost.core.task.CompletionSource.Waker;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one worker, by a ring of its own: submitted by the slices that it runs, and reaped by its looks between them.
 *
 * <p>The worker's thread is nearly alone here. Others come for a moment: the old thread of a worker that was relieved while it was
 * blocked may go on to submit, the watch asks whether something has arrived, and whoever closes waits for the last read. So one
 * lock, this, guards everything, and is all but free. What reads end with runs outside it, so it is the innermost lock but those
 * of the kernel.
 *
 * <p>A read is in one place at a time: waiting for room in the ring ({@link #waitingFirst}), under way (in {@link #underWay} at the
 * tag that the kernel brings back), or ended and about to be told. It moves between these under the lock, and only
 * assignments lie between, so no error can lose it: what an error leaves undone the next look does.
 *
 * <p>No wake-up is lost: {@link #arm} first has the ring signal and then looks whether something has arrived; the kernel first
 * posts a completion and then, behind a full barrier, looks whether the ring is to signal. So at least one of the two sees
 * the other: either the worker stays awake, or the event is signalled after the completion was posted, and the watch, which
 * looks at all rings after each signal, finds it and wakes the worker.
 */
final class UringQueue implements BlockDevice.Queue {
    private final IoUring ring;
    /** By tag. */
    private final @Nullable BlockRead[] underWay;

    private final int[] freeTags;
    private int freeTagCount;
    private @Nullable BlockRead waitingFirst;
    private @Nullable BlockRead waitingLast;
    private int waiting;
    private @Nullable BlockRead endedFirst;
    private @Nullable BlockRead endedLast;
    private @Nullable Waker waker;
    private boolean armed;
    private boolean closed;
    private long reads;
    private long submits;
    /** Made once: to reap needs no memory. */
    private final IoUring.Completion reaped = this::reaped;

    UringQueue(IoUring ring) {
        this.ring = ring;
        this.underWay = new BlockRead[ring.entries()];
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

    @Override
    public void submit(BlockRead first) {
        boolean refused;
        BlockRead ended = null;
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

    private void append(BlockRead first) {
        if (waitingLast == null) {
            waitingFirst = first;
        } else {
            waitingLast.next = first;
        }
        for (BlockRead read = first; read != null; read = read.next) {
            waitingLast = read;
            waiting++;
        }
    }

    /** Fills the ring with what waits and has the kernel take it. */
    private void tellRing() {
        while (waitingFirst != null && freeTagCount > 0) {
            BlockRead read = waitingFirst;
            int tag = freeTags[freeTagCount - 1];
            ring.prepare(((UringDevice.RingFile) read.device()).ring(), read.offset(), read.target(), tag);
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
        BlockRead read = underWay[tag];
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

    private @Nullable BlockRead takeEnded() {
        BlockRead ended = endedFirst;
        endedFirst = null;
        endedLast = null;
        return ended;
    }

    /** Tells reads that they have ended, all of them, whatever one of them throws. Returns how many. */
    private static int deliver(@Nullable BlockRead ended) {
        int count = 0;
        Throwable thrown = null;
        for (BlockRead read = ended; read != null; count++) {
            BlockRead following = read.next;
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

    private static void failAll(BlockRead first) {
        for (BlockRead read = first; read != null; ) {
            BlockRead following = read.next;
            read.next = null;
            read.fails("the block I/O is closed");
            read = following;
        }
    }

    @Override
    public int poll() {
        BlockRead ended;
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

    /** For the watch: wakes the worker if it sleeps and something has arrived. */
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
