package io.github.roost.core.task;

/**
 * Told when ids of a table get other homes, so that an index can move what it keeps near them: memory, caches, pins. Must be
 * thread-safe, since calls may overlap.
 *
 * @see Registration#onHomesMoved
 */
@FunctionalInterface
public interface HomeListener {
    /**
     * Some of a table's mapping ids have other homes than before. Called once for each mapping that is published with other
     * homes for this table, after that mapping is in force, without any lock held, in the thread that ended the window:
     * the mapper's, or that of a caller of {@code Orchestrator.indexing().endWindow()}. The next window ends no sooner than this
     * returns, so what takes longer than some microseconds is for another thread.
     *
     * <p>Where two threads end windows at once, calls may overlap and come in either order. So the homes are not told but
     * to be asked for, with {@code Orchestrator.homes} or {@link Registration#home}: the answer is at least as new as the
     * mapping that this call is about, and after the last call it is the newest.
     *
     * @param table whose ids moved
     * @param clusters of the ids that moved, ascending; {@code table.id(cluster)} is the id. The listener's own array
     */
    void homesMoved(Registration table, int[] clusters);
}
