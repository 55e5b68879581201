package io.github.roost.index.ivf;

import org.agrona.collections.Long2LongHashMap;

/** In which list, and where in it, the row of each external id lives. Not thread-safe. */
final class Locations {
    static final long NOWHERE = -1;

    private final Long2LongHashMap places = new Long2LongHashMap(NOWHERE);

    void put(long id, int list, int place) {
        places.put(id, (long) list << 32 | place);
    }

    /** Told of rows. */
    @FunctionalInterface
    interface Visitor {
        void row(long id, int list, int place);
    }

    void forEach(Visitor visitor) {
        places.forEachLong((id, location) -> visitor.row(id, list(location), place(location)));
    }

    /** For {@link #list} and {@link #place}; {@link #NOWHERE} where there is no such row. */
    long of(long id) {
        return places.get(id);
    }

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
