package io.github.roost.core.spi;

import io.github.roost.core.SearchContext;

/**
 * Background work in steps of a few microseconds: a build, a merge, a compaction, the pruning of a graph. Steps run on workers
 * that have nothing else to do, also while their searches wait for bytes. To avoid starvation, maintenance also takes a small
 * share of the time of busy workers.
 */
@FunctionalInterface
public interface Maintenance {
    /**
     * Runs one step. Steps of the same maintenance never run concurrently; each sees the writes of earlier steps.
     *
     * @param context the context of this step
     * @return whether there is more to do
     * @throws Exception any failure; it ends the maintenance and fails its future
     */
    boolean step(SearchContext context) throws Exception;
}
