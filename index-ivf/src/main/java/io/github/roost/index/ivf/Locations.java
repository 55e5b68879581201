package io.github.roost.index.ivf;

import io.github.roost.neighborhash.NeighborHashMap;

/**
 * The list and the place in it of the row of each external id. Off-heap, 20 to 40 bytes per id. Not thread-safe. A call that
 * throws {@link OutOfMemoryError} has changed nothing.
 */
class Locations implements AutoCloseable {
    static final long NOWHERE = NeighborHashMap.ABSENT;

    /** A list takes 18 bits and a place 31, fewer than a payload has. */
    private static final int PLACE_BITS = 32;

    private final NeighborHashMap places;

    /** @param expected expected number of ids; grows beyond it */
    Locations(int expected) {
        places = NeighborHashMap.builder(expected).build();
    }

    /** Allocates nothing for an id that is present. */
    void put(long id, int list, int place) {
        places.put(id, (long) list << PLACE_BITS | place);
    }

    /** The location, for {@link #list} and {@link #place}; {@link #NOWHERE} if the id is absent. */
    long of(long id) {
        return places.get(id, NOWHERE);
    }

    /** Allocates nothing. */
    long remove(long id) {
        return places.remove(id);
    }

    static int list(long location) {
        return (int) (location >>> PLACE_BITS);
    }

    static int place(long location) {
        return (int) location;
    }

    int size() {
        return (int) places.size();
    }

    long bytes() {
        return places.memoryBytes();
    }

    /** The {@link #bytes} after {@code more} more ids. */
    long bytesWith(int more) {
        return places.memoryBytesWith(more);
    }

    @Override
    public void close() {
        places.close();
    }
}
