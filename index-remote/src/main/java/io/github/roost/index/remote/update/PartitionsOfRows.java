package io.github.roost.index.remote.update;

import io.github.roost.neighborhash.spi.RowMap;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2LongHashMap;

/**
 * A map from row id to the partitions that have the row: one, or two for a boundary row. A writer needs it since a replaced row may move.
 * Off-heap, 20 to 40 bytes per row. Belongs to one writer.
 */
final class PartitionsOfRows implements AutoCloseable {
    private static final int NONE = 0xffff;
    private static final int[] NO_PLACE = {};

    /** Per row two partitions; the second is {@link #NONE} if there is only one. */
    private final RowMap places = new RowMap(0);
    /** Tokens of the rows that were inserted by log records; used while places are being gathered. */
    private final Long2LongHashMap tokens = new Long2LongHashMap(-1);

    private final List<Stale> stale = new ArrayList<>();

    /** An outdated row: another partition has a later row of the same id, because a writer was lost before it removed this one. */
    record Stale(long id, int partition) {}

    /** The partitions that have the row; empty if there is none. */
    int[] of(long id) {
        long known = places.get(id);
        if (known == RowMap.NOWHERE) {
            return NO_PLACE;
        }
        int first = RowMap.row(known);
        int second = RowMap.group(known);
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

    /** Records that only this partition has the row. */
    void set(long id, int partition) {
        places.put(id, NONE, partition);
    }

    void remove(long id) {
        places.remove(id);
    }

    /** Records that the row was removed from this partition. */
    void remove(long id, int partition) {
        int[] now = of(id);
        if (now.length == 2 && isIn(id, partition)) {
            set(id, now[0] == partition ? now[1] : now[0]);
        } else if (now.length == 1 && now[0] == partition) {
            remove(id);
        }
    }

    /**
     * Records a row found in a partition. Copies of a boundary row have the same token; of two other rows of one id the one with the smaller
     * token is stale.
     *
     * @param token of the record, 0 for a row of the graph
     */
    void found(long id, int partition, long token) {
        int[] now = of(id);
        if (now.length == 0) {
            set(id, partition);
        } else if (token == tokens.getOrDefault(id, 0L)) {
            places.put(id, partition, now[0]);
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

    /** Ends the gathering; returns the stale rows, which must be removed. */
    List<Stale> gathered() {
        List<Stale> all = List.copyOf(stale);
        stale.clear();
        tokens.clear();
        return all;
    }

    /** Removes all entries of some partitions, which will be {@linkplain #found gathered} again. */
    void forget(int fromPartition, int toPartition) {
        List<Long> all = new ArrayList<>();
        places.forEach((id, second, first) -> {
            if (isWithin(first, fromPartition, toPartition) || isWithin(second, fromPartition, toPartition)) {
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
        return places.size();
    }

    @Override
    public void close() {
        places.close();
    }
}
