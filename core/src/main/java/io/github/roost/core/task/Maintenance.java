package io.github.roost.core.task;

/**
 * Work that is no search, in steps of a few microseconds: a build, a merge, a compaction, the pruning of a graph. Steps run
 * while searches wait for bytes, on workers that have nothing else to do, and, so that it is never starved, for a small share
 * of the time of busy ones.
 */
@FunctionalInterface
public interface Maintenance {
    /**
     * Does one step. No two steps of the same maintenance run at once; each sees what earlier ones wrote.
     *
     * @param context of this step
     * @return whether there is more to do
     * @throws Exception any failure; it ends the maintenance and fails its future
     */
    boolean step(SearchContext context) throws Exception;
}
