package io.github.roost.vector;

/** A table whose rows can be added, replaced and removed while it is searched. Thread-safe. */
public interface MutableVectorTable extends VectorTable {
    /**
     * Inserts a row, or replaces the row with the same id. Searches that begin after this returns see the new row and not the old one.
     *
     * @param id the external id, any value
     * @param vector a finite vector of the table's dimension, not zero for cosine; copied
     * @return whether the id is new to the table
     * @throws io.github.roost.vector.TableFullException if there is no room for the row; nothing has changed
     */
    boolean put(long id, float[] vector);

    /**
     * Removes a row. Searches that begin after this returns do not find it.
     *
     * @param id external id
     * @return whether there was a row with this id
     */
    boolean remove(long id);
}
