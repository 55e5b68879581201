package io.github.roost.core.spi;

import io.github.roost.core.Registration;

/**
 * A listener that is notified when mapping ids of a table move to other homes, so that an index can move its memory, caches
 * and pins. Must be thread-safe, since calls may overlap.
 *
 * @see Registration#onHomesMoved
 */
@FunctionalInterface
public interface HomeListener {
    /**
     * Called after some of a table's mapping ids have moved: once per published mapping that changes homes of this table, when
     * that mapping is in force. Runs without any lock, in the thread that ended the window: the mapper's, or the caller's of
     * {@code Orchestrator.indexing().endWindow()}. That thread ends no further window before this call returns, so hand
     * work of more than a few microseconds to another thread.
     *
     * <p>If two threads end windows at the same time, calls may overlap and arrive in either order. Therefore the new homes are
     * not passed; read them with {@code Orchestrator.homes} or {@link Registration#home}. These return the homes of the mapping
     * that caused this call or of a newer one; during the last call they return the newest homes.
     *
     * @param table the table whose ids moved
     * @param indices the indices of the ids that moved, ascending; {@code table.id(index)} is the id. The listener may keep the array
     */
    void homesMoved(Registration table, int[] indices);
}
