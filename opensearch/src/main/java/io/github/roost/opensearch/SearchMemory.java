package io.github.roost.opensearch;

import io.github.roost.lucene.memory.GraphCopies;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.indices.breaker.BreakerSettings;

/**
 * The memory of running segment searches, counted by an OpenSearch circuit breaker. A search that would exceed
 * the limit is refused before it allocates memory, with OpenSearch's status 429. The breaker also counts copies of graphs, which stay
 * as long as their segments are open; they leave the searches their limit. Thread-safe.
 */
final class SearchMemory {
    private static final String NAME = "roost";

    /** Set by OpenSearch before the first search. */
    private volatile @Nullable CircuitBreaker breaker;

    /** The limit of the searches. */
    private volatile long limit;

    private final AtomicLong copies = new AtomicLong();

    static BreakerSettings settings(Settings settings) {
        return new BreakerSettings(
                NAME,
                RoostSettings.BREAKER_LIMIT.get(settings).getBytes(),
                1,
                CircuitBreaker.Type.MEMORY,
                CircuitBreaker.Durability.TRANSIENT);
    }

    void breaker(CircuitBreaker value) {
        breaker = value;
        limit = value.getLimit();
    }

    void limit(long bytes) {
        limit = bytes;
        setLimit();
    }

    private void setLimit() {
        CircuitBreaker known = breaker;
        if (known != null) {
            known.setLimitAndOverhead(limit + copies.get(), known.getOverhead());
        }
    }

    /** {@return the bytes of the copies of graphs, which are counted anew} */
    long countCopies() {
        long bytes = GraphCopies.openBytes();
        // Searches read, and write only after a change.
        if (bytes != copies.get()) {
            long before = copies.getAndSet(bytes);
            CircuitBreaker known = breaker;
            if (known != null) {
                known.addWithoutBreaking(bytes - before);
                setLimit();
            }
        }
        return bytes;
    }

    /**
     * Reserves the memory of a search.
     *
     * @throws org.opensearch.core.common.breaker.CircuitBreakingException if it would exceed the limit; then nothing is reserved
     */
    void take(long bytes) {
        countCopies();
        CircuitBreaker known = breaker;
        if (known != null) {
            known.addEstimateBytesAndMaybeBreak(bytes, "roost_knn");
        }
    }

    /** Releases reserved memory. */
    void giveBack(long bytes) {
        CircuitBreaker known = breaker;
        if (known != null) {
            known.addWithoutBreaking(-bytes);
        }
    }
}
