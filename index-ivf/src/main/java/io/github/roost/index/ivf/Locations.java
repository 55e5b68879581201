package io.github.roost.index.ivf;

import java.util.function.IntFunction;

/** In which list, and where in it, the row of each external id lives. Not thread-safe. */
final class Locations {
    static final long NOWHERE = LongMap.MISSING;

    private final LongMap places;

    Locations() {
        this(long[]::new);
    }

    /** @param memory allocates an array, or throws */
    Locations(IntFunction<long[]> memory) {
        places = new LongMap(memory);
    }

    /** Makes room for so many more ids, whose {@link #put} needs no memory then; what fails has changed nothing. */
    void reserve(int more) {
        places.reserve(more);
    }

    /** Needs no memory for an id that is there. */
    void put(long id, int list, int place) {
        places.put(id, (long) list << 32 | place);
    }

    /** For {@link #list} and {@link #place}; {@link #NOWHERE} where there is no such row. */
    long of(long id) {
        return places.get(id);
    }

    /** Needs no memory. */
    long remove(long id) {
        return places.remove(id);
    }

    static int list(long location) {
        return (int) (location >>> 32);
    }

    static int place(long location) {
        return (int) location;
    }

    int size() {
        return places.size();
    }
}
