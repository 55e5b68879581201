package io.github.roost.neighborhash.spi;

import io.github.roost.neighborhash.NeighborHashMap;

/**
 * An off-heap map from the external ids of an index's rows to their places: a group of rows (a list, a part or a partition; 0 if the
 * index has one only) and a number in it. 20 to 40 bytes per id. Used by one thread at a time. A call that throws {@link
 * OutOfMemoryError} has changed nothing. Calls after {@link #close} throw {@link IllegalStateException}.
 */
public class RowMap implements AutoCloseable {
    /** The place of an absent id. */
    public static final long NOWHERE = NeighborHashMap.ABSENT;
    /** The number of groups: 2^20. */
    public static final int GROUPS = 1 << 20;

    private static final int ROW_BITS = 32;

    private final NeighborHashMap places;

    /** Receives places. */
    @FunctionalInterface
    public interface Visitor {
        /**
         * Receives a place.
         *
         * @param id the id
         * @param group the group of its row
         * @param row the number of its row in the group
         */
        void visit(long id, int group, int row);
    }

    /**
     * Creates an empty map.
     *
     * @param expected the expected number of ids, 0 or more; with more ids the map grows
     */
    public RowMap(long expected) {
        places = NeighborHashMap.builder(expected).build();
    }

    /**
     * Sets the place of an id; allocates nothing if the id is present.
     *
     * @param id any id
     * @param group from 0 to {@link #GROUPS} - 1
     * @param row 0 or more
     * @return the previous place, or {@link #NOWHERE}
     */
    public long put(long id, int group, int row) {
        return places.put(id, (long) group << ROW_BITS | row);
    }

    /**
     * Returns the place of an id, to be read by {@link #group} and {@link #row}.
     *
     * @param id any id
     * @return its place, or {@link #NOWHERE}
     */
    public long get(long id) {
        return places.get(id, NOWHERE);
    }

    /**
     * Removes an id; allocates nothing.
     *
     * @param id any id
     * @return its place, or {@link #NOWHERE} if it was absent
     */
    public long remove(long id) {
        return places.remove(id);
    }

    /**
     * The group of a place.
     *
     * @param place the place of an id that is present
     * @return the group
     */
    public static int group(long place) {
        return (int) (place >>> ROW_BITS);
    }

    /**
     * The number of a row in its group.
     *
     * @param place a place
     * @return the number, or -1 of {@link #NOWHERE}
     */
    public static int row(long place) {
        return (int) place;
    }

    /**
     * Visits every id once, in no particular order.
     *
     * @param visitor receives the places; must not change the map
     */
    public void forEach(Visitor visitor) {
        places.forEach((id, place) -> visitor.visit(id, group(place), row(place)));
    }

    /** {@return the number of ids} */
    public int size() {
        return (int) places.size();
    }

    /** {@return the off-heap memory in bytes} */
    public long bytes() {
        return places.memoryBytes();
    }

    /**
     * Returns the off-heap memory after additions.
     *
     * @param more the number of further ids, 0 or more
     * @return {@link #bytes} after they are put
     */
    public long bytesWith(int more) {
        return places.memoryBytesWith(more);
    }

    /** Frees the memory. */
    @Override
    public void close() {
        places.close();
    }
}
