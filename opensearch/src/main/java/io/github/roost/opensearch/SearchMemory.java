package io.github.roost.opensearch;

import org.jspecify.annotations.Nullable;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.indices.breaker.BreakerSettings;

/**
 * The memory of running segment searches, counted by an OpenSearch circuit breaker. A search that would exceed
 * the limit is refused before it allocates memory, with OpenSearch's status 429. Thread-safe.
 */
final class SearchMemory {
    private static final String NAME = "roost";

    /** Set by OpenSearch before the first search. */
    private volatile @Nullable CircuitBreaker breaker;

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
    }

    void limit(long bytes) {
        CircuitBreaker known = breaker;
        if (known != null) {
            known.setLimitAndOverhead(bytes, known.getOverhead());
        }
    }

    /**
     * Reserves the memory of a search.
     *
     * @throws org.opensearch.core.common.breaker.CircuitBreakingException if it would exceed the limit; then nothing is reserved
     */
    void take(long bytes) {
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
