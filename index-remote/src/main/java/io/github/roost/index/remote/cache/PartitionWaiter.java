package io.github.roost.index.remote.cache;

import io.github.roost.core.spi.Pending;
import io.github.roost.index.remote.RemoteMemoryException;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A waiter for a partition's bytes. The failure is written before the pending is completed, which publishes it to the continuation. */
public final class PartitionWaiter {
    private final Pending pending = new Pending();
    /** Slots of the log that must be loaded. */
    private final int records;

    private volatile @Nullable RemoteMemoryException failure;

    public PartitionWaiter(int records) {
        this.records = records;
    }

    int records() {
        return records;
    }

    public Pending pending() {
        return pending;
    }

    void end(@Nullable RemoteMemoryException why) {
        failure = why;
        pending.complete();
    }

    public void requireNoFailure() throws RemoteMemoryException {
        RemoteMemoryException why = failure;
        if (why != null) {
            throw why;
        }
    }

    /** Waits in the calling thread, which must not be a worker, until the wait is over. */
    public void await() throws RemoteMemoryException {
        CountDownLatch latch = new CountDownLatch(1);
        if (pending.await(latch::countDown)) {
            boolean interrupted = false;
            boolean ended = false;
            while (!ended) {
                try {
                    latch.await();
                    ended = true;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        requireNoFailure();
    }
}
