package io.github.roost.index.remote;

import io.github.roost.table.LongTable;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2LongHashMap;

/**
 * Which partitions the row of each id is in: one, or two for a row on a boundary. What a writer has to know, since a row that is replaced
 * may move. Off-heap, 20 to 40 bytes per row. Belongs to one writer.
 */
final class RowPlaces implements AutoCloseable {
    private static final long NOWHERE = LongTable.ABSENT;
    private static final int NONE = 0xffff;
    private static final int[] NO_PLACE = {};

    /** The partitions in 16 bits each, the second is {@link #NONE} where there is one only. */
    private final LongTable places = LongTable.builder(0).build();
    /** Tokens of rows that were in a partition already when they were found in another; while places are being gathered. */
    private final Long2LongHashMap tokens = new Long2LongHashMap(NOWHERE);

    private final List<Stale> stale = new ArrayList<>();

    /** A row of an id that another partition has a later row of: a writer was lost before it took the row out. */
    record Stale(long id, int partition) {}

    /** Where the row is. */
    int[] of(long id) {
        long known = places.get(id, NOWHERE);
        if (known == NOWHERE) {
            return NO_PLACE;
        }
        int first = (int) (known & NONE);
        int second = (int) (known >>> 16);
        return second == NONE ? new int[] {first} : new int[] {first, second};
    }

    boolean isIn(long id, int partition) {
        for (int place : of(id)) {
            if (place == partition) {
                return true;
            }
        }
        return false;
    }

    /** The row is in this partition and no other. */
    void set(long id, int partition) {
        places.put(id, packed(partition, NONE));
    }

    void remove(long id) {
        places.remove(id);
    }

    /** The row is in this partition no longer. */
    void remove(long id, int partition) {
        int[] now = of(id);
        if (now.length == 2 && isIn(id, partition)) {
            set(id, now[0] == partition ? now[1] : now[0]);
        } else if (now.length == 1 && now[0] == partition) {
            remove(id);
        }
    }

    private static long packed(int first, int second) {
        return (long) second << 16 | first;
    }

    /**
     * A row was found in a partition. Copies of one row have one token; of two rows of one id the one with the lesser token is stale.
     *
     * @param token of the record, 0 for a row of the graph
     */
    void found(long id, int partition, long token) {
        int[] now = of(id);
        if (now.length == 0) {
            set(id, partition);
        } else if (token == tokens.getOrDefault(id, 0L)) {
            places.put(id, packed(now[0], partition));
        } else if (token > tokens.getOrDefault(id, 0L)) {
            for (int place : now) {
                stale.add(new Stale(id, place));
            }
            set(id, partition);
        } else {
            stale.add(new Stale(id, partition));
        }
        if (token > tokens.getOrDefault(id, 0L)) {
            tokens.put(id, token);
        }
    }

    /** Ends the gathering; the rows that are to be taken out. */
    List<Stale> gathered() {
        List<Stale> all = List.copyOf(stale);
        stale.clear();
        tokens.clear();
        return all;
    }

    /** Forgets what is said of some partitions: they are about to be {@linkplain #found found} anew. */
    void forget(int fromPartition, int toPartition) {
        List<Long> all = new ArrayList<>();
        places.forEach((id, known) -> {
            if (isWithin((int) (known & NONE), fromPartition, toPartition)
                    || isWithin((int) (known >>> 16), fromPartition, toPartition)) {
                all.add(id);
            }
        });
        for (long id : all) {
            for (int place : of(id)) {
                if (isWithin(place, fromPartition, toPartition)) {
                    remove(id, place);
                }
            }
        }
    }

    private static boolean isWithin(int partition, int from, int to) {
        return partition >= from && partition < to;
    }

    int size() {
        return (int) places.size();
    }

    @Override
    public void close() {
        places.close();
    }
}
