package io.github.roost.documents;

import io.github.roost.core.Orchestrator;
import io.github.roost.vector.MemoryLimited;
import io.github.roost.vector.Metric;
import org.jspecify.annotations.Nullable;

/**
 * The options of a store.
 *
 * @param metric null for that of the file, or cosine if it is new
 * @param orchestrator null for that of the process
 * @param memoryLimit off-heap bytes of the vectors of each collection
 * @param cacheBytes heap for pages of the file
 */
record StoreOptions(@Nullable Metric metric, @Nullable Orchestrator orchestrator, long memoryLimit, long cacheBytes) {
    private static final long LEAST_CACHE = 16L << 20;
    private static final long MOST_CACHE = 256L << 20;
    private static final int CACHE_SHARE = 16;

    static final StoreOptions DEFAULTS = new StoreOptions(
            null,
            null,
            MemoryLimited.NO_MEMORY_LIMIT,
            Math.clamp(Runtime.getRuntime().maxMemory() / CACHE_SHARE, LEAST_CACHE, MOST_CACHE));
}
