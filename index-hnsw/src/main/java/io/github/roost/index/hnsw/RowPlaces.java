package io.github.roost.index.hnsw;

import io.github.roost.table.LongTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the row of each id is: in which part of a live table, and there in which row. Off-heap, about 25 bytes per id. One
 * thread at a time uses it. An {@link OutOfMemoryError} has changed nothing.
 */
final class RowPlaces implements AutoCloseable {
    /** In place of a place. */
    static final long NOWHERE = LongTable.ABSENT;

    private static final int ROW_BITS = 31;
    private static final int MAX_PARTS = 1 << 20;

    private final LongTable places = LongTable.builder(0).build();
    /** By number; the numbers of parts that are gone are given again. */
    private final List<@Nullable LiveRows> parts = new ArrayList<>();

    /** Gives a part a number, by which places name it. */
    void enter(LiveRows part) {
        int number = parts.indexOf(null);
        if (number < 0) {
            number = parts.size();
            if (number == MAX_PARTS) {
                throw new IllegalStateException("a live table has at most " + MAX_PARTS + " parts");
            }
            parts.add(part);
        } else {
            parts.set(number, part);
        }
        part.number(number);
    }

    /** A part is gone, and with it all places that named it. */
    void leave(LiveRows part) {
        parts.set(part.number(), null);
    }

    /** Where the row of an id was before, or {@link #NOWHERE}. */
    long put(long id, LiveRows part, int row) {
        return places.put(id, (long) part.number() << ROW_BITS | row);
    }

    long get(long id) {
        return places.get(id, NOWHERE);
    }

    /** Where it was, or {@link #NOWHERE}. */
    long remove(long id) {
        return places.remove(id);
    }

    /** The part that a place is in. */
    LiveRows part(long place) {
        LiveRows part = parts.get((int) (place >>> ROW_BITS));
        if (part == null) {
            throw new IllegalStateException("a place in a part that is gone");
        }
        return part;
    }

    /** The row that a place is. */
    static int row(long place) {
        return (int) place & Integer.MAX_VALUE;
    }

    int size() {
        return (int) places.size();
    }

    long bytes() {
        return places.memoryBytes();
    }

    /** What {@link #bytes} will be with one more id. */
    long bytesWithAnother() {
        return places.memoryBytesWith(1);
    }

    @Override
    public void close() {
        places.close();
    }
}
