package io.github.roost.index.remote.cache;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.index.remote.pool.OpenPool;
import io.github.roost.index.remote.pool.ReaderHold;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that fetches requested partitions: each doorbell takes all that are waiting, up to a limit, while searches verify and search the
 * ones that have arrived. Ends when the cache is closed and nothing is in progress; then it gives up the hold and closes the pool.
 */
public final class PartitionLoader implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionLoader.class);
    /** One transfers while the partitions of the one before are searched. */
    private static final int MAX_IN_PROGRESS = 2;

    private final PartitionCache cache;
    private final OpenPool pool;
    private final ReaderHold hold;
    private final int readsPerDoorbell;
    private final long timeoutNanos;

    public PartitionLoader(
            PartitionCache cache, OpenPool pool, ReaderHold hold, int readsPerDoorbell, long timeoutNanos) {
        this.cache = cache;
        this.pool = pool;
        this.hold = hold;
        this.readsPerDoorbell = readsPerDoorbell;
        this.timeoutNanos = timeoutNanos;
    }

    @Override
    public void run() {
        try {
            boolean open = true;
            while (open) {
                open = fetch();
            }
        } finally {
            cache.close(new RemoteMemoryException(pool.region().name(), "is not read any more"));
            hold.close();
            pool.close();
            // After the region was closed: until then bytes of a read that was given up may still arrive.
            cache.free();
        }
    }

    /** Returns whether to continue. An unexpected failure fails the current waiters, not later ones. */
    private boolean fetch() {
        try {
            PartitionCache.Doorbell doorbell = cache.next(readsPerDoorbell, MAX_IN_PROGRESS);
            if (doorbell == null) {
                return false;
            }
            if (!doorbell.partitions().isEmpty()) {
                ring(doorbell);
            }
        } catch (RuntimeException | Error unexpected) {
            LOG.error("partitions of {} could not be fetched", pool.region().name(), unexpected);
            cache.failWanted(OpenPool.failure(pool.region().name(), unexpected));
        }
        return true;
    }

    private void ring(PartitionCache.Doorbell doorbell) {
        CompletableFuture<Void> read;
        try {
            read = pool.region().get(doorbell.transfers());
        } catch (RuntimeException | Error failed) {
            // Some reads may have begun: their memory stays reserved.
            ended(doorbell, failed);
            return;
        }
        // The timeout is on a copy: the provider's future still tells when no more bytes arrive.
        var _ = read.whenComplete((done, failed) -> cache.settled(doorbell))
                .copy()
                .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS)
                .whenComplete((done, failed) -> ended(doorbell, failed));
    }

    private void ended(PartitionCache.Doorbell doorbell, @Nullable Throwable failed) {
        RemoteMemoryException failure =
                failed == null ? null : OpenPool.failure(pool.region().name(), failed);
        if (failure != null) {
            LOG.warn("{} partitions were not read: {}", doorbell.partitions().size(), failure.getMessage());
        }
        cache.ended(doorbell, failure);
    }
}
