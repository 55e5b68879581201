package io.github.roost.index.remote;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that fetches what the cache wants: as many partitions per doorbell as wait by then, while searches verify and search those
 * that have come. Ends when the cache is closed and nothing is under way; then it closes the pool.
 */
final class PartitionLoader implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionLoader.class);
    /** One is on the link while what the one before has brought is searched. */
    private static final int MOST_UNDER_WAY = 2;

    private final PartitionCache cache;
    private final OpenPool pool;
    private final int readsPerDoorbell;
    private final long timeoutNanos;

    PartitionLoader(PartitionCache cache, OpenPool pool, int readsPerDoorbell, long timeoutNanos) {
        this.cache = cache;
        this.pool = pool;
        this.readsPerDoorbell = readsPerDoorbell;
        this.timeoutNanos = timeoutNanos;
    }

    @Override
    public void run() {
        try {
            PartitionCache.Doorbell doorbell = cache.next(readsPerDoorbell, MOST_UNDER_WAY);
            while (doorbell != null) {
                if (!doorbell.partitions().isEmpty()) {
                    ring(doorbell);
                }
                doorbell = cache.next(readsPerDoorbell, MOST_UNDER_WAY);
            }
        } finally {
            cache.free();
            pool.close();
        }
    }

    private void ring(PartitionCache.Doorbell doorbell) {
        var _ = pool.region()
                .get(doorbell.transfers())
                .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS)
                .whenComplete((done, failed) -> {
                    RemoteMemoryException failure = failed == null
                            ? null
                            : OpenPool.failure(pool.region().name(), failed);
                    if (failure != null) {
                        LOG.warn(
                                "{} partitions were not read: {}",
                                doorbell.partitions().size(),
                                failure.getMessage());
                    }
                    cache.ended(doorbell, failure);
                });
    }
}
