package io.github.roost.index.ivf;

import io.github.roost.table.LongTable;

/**
 * In which list, and where in it, the row of each external id lives. Off-heap, 20 to 40 bytes per id. Not thread-safe. An {@link
 * OutOfMemoryError} has changed nothing.
 */
class Locations implements AutoCloseable {
    static final long NOWHERE = LongTable.ABSENT;

    /** A list and a place take 18 and 31 bits: fewer than a payload has. */
    private static final int PLACE_BITS = 32;

    private final LongTable places;

    /** @param expected how many ids there will be; with more it grows */
    Locations(int expected) {
        places = LongTable.builder(expected).build();
    }

    /** Needs no memory for an id that is there. */
    void put(long id, int list, int place) {
        places.put(id, (long) list << PLACE_BITS | place);
    }

    /** For {@link #list} and {@link #place}; {@link #NOWHERE} where there is no such row. */
    long of(long id) {
        return places.get(id, NOWHERE);
    }

    /** Needs no memory. */
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

    /** What {@link #bytes} will be with so many more ids. */
    long bytesWith(int more) {
        return places.memoryBytesWith(more);
    }

    @Override
    public void close() {
        places.close();
    }
}
