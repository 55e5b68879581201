package io.github.roost.opensearch;

import org.jspecify.annotations.Nullable;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.breaker.CircuitBreaker;
import org.opensearch.indices.breaker.BreakerSettings;

/**
 * The memory that walks of segments take while they run, as a circuit breaker of OpenSearch counts it. A walk that would exceed
 * the limit is refused before it takes any, with OpenSearch's 429. Thread-safe.
 */
final class SearchMemory {
    private static final String NAME = "roost";
    /** What a candidate of a walk takes: its number, its distance and its place among the others. */
    private static final long BYTES_OF_CANDIDATE = 16;

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
     * What a walk takes.
     *
     * @param documents of the segment, of which each that is visited or may be found has a bit
     * @param width of the walk
     */
    static long bytes(int documents, int width) {
        return 2L * Math.ceilDiv(documents, Byte.SIZE) + BYTES_OF_CANDIDATE * Math.min(documents, width);
    }

    /**
     * Counts a walk's memory as taken.
     *
     * @throws org.opensearch.core.common.breaker.CircuitBreakingException if there is not so much left; then nothing is taken
     */
    void take(long bytes) {
        CircuitBreaker known = breaker;
        if (known != null) {
            known.addEstimateBytesAndMaybeBreak(bytes, "roost_knn");
        }
    }

    /** Counts it as given back. */
    void giveBack(long bytes) {
        CircuitBreaker known = breaker;
        if (known != null) {
            known.addWithoutBreaking(-bytes);
        }
    }
}
