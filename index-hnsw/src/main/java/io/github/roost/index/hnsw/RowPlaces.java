package io.github.roost.index.hnsw;

import io.github.roost.neighborhash.spi.RowMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Map from each id to its place: the part of a live table and the row in it. Off-heap, about 25 bytes per id. Used by one
 * thread at a time. A method that throws {@link OutOfMemoryError} has changed nothing.
 */
final class RowPlaces implements AutoCloseable {
    /** The place of an absent id. */
    static final long NOWHERE = RowMap.NOWHERE;

    private final RowMap places;
    /** By number; numbers of removed parts are reused. */
    private final List<@Nullable LiveRows> parts = new ArrayList<>();

    /** @param expected the expected number of ids */
    RowPlaces(int expected) {
        places = new RowMap(expected);
    }

    /** Assigns a part its number, which places refer to. */
    void enter(LiveRows part) {
        int number = parts.indexOf(null);
        if (number < 0) {
            number = parts.size();
            if (number == RowMap.GROUPS) {
                throw new IllegalStateException("a live table has at most " + RowMap.GROUPS + " parts");
            }
            parts.add(part);
        } else {
            parts.set(number, part);
        }
        part.number(number);
    }

    /** Removes a part. No place may refer to it any more. */
    void leave(LiveRows part) {
        parts.set(part.number(), null);
    }

    /** Sets the place of an id; returns its previous place, or {@link #NOWHERE}. */
    long put(long id, LiveRows part, int row) {
        return places.put(id, part.number(), row);
    }

    long get(long id) {
        return places.get(id);
    }

    /** Removes an id; returns its previous place, or {@link #NOWHERE}. */
    long remove(long id) {
        return places.remove(id);
    }

    /** The part of a place. */
    LiveRows part(long place) {
        LiveRows part = parts.get(RowMap.group(place));
        if (part == null) {
            throw new IllegalStateException("a place in a part that is gone");
        }
        return part;
    }

    /** The row of a place. */
    static int row(long place) {
        return RowMap.row(place);
    }

    int size() {
        return places.size();
    }

    long bytes() {
        return places.bytes();
    }

    /** The value of {@link #bytes} with one more id. */
    long bytesWithAnother() {
        return places.bytesWith(1);
    }

    @Override
    public void close() {
        places.close();
    }
}
