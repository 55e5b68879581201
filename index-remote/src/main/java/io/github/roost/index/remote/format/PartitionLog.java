package io.github.roost.index.remote.format;

import io.github.roost.index.remote.RemoteMemoryException;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.LongHashSet;

/** The content of a partition's log up to some slot: inserted rows, and ids whose rows in the graph are replaced or removed. Immutable. */
public final class PartitionLog {
    public static final PartitionLog EMPTY =
            new PartitionLog(0, 0, Map.of(), Map.of(), new LongHashSet(), IdFilter.all());

    private final int tail;
    private final int records;
    private final Map<Long, LogRecord> rows;
    private final Map<Integer, LogRecord.Moved> moves;
    private final LongHashSet hidden;
    private final IdFilter alive;

    private PartitionLog(
            int tail,
            int records,
            Map<Long, LogRecord> rows,
            Map<Integer, LogRecord.Moved> moves,
            LongHashSet hidden,
            IdFilter alive) {
        this.tail = tail;
        this.records = records;
        this.rows = rows;
        this.moves = moves;
        this.hidden = hidden;
        this.alive = alive;
    }

    /** Reads the record of a slot. */
    public interface Slots {
        LogRecord read(int slot) throws RemoteMemoryException.DamagedPartitionException;
    }

    /** Adds the records up to a later slot, following them backwards from it. */
    public PartitionLog upTo(int laterTail, String region, int partition, Slots slots)
            throws RemoteMemoryException.DamagedPartitionException {
        Deque<LogRecord> added = new ArrayDeque<>();
        int slot = laterTail - 1;
        while (slot >= tail) {
            LogRecord record = slots.read(slot);
            added.addFirst(record);
            slot = record.place().before();
        }
        int sequence = records;
        for (LogRecord record : added) {
            if (record.place().sequence() != sequence++) {
                throw wrong(region, partition, record);
            }
        }
        if (slot != tail - 1) {
            throw wrong(region, partition, added.getFirst());
        }
        return with(laterTail, added);
    }

    private static RemoteMemoryException.DamagedPartitionException wrong(
            String region, int partition, LogRecord record) {
        return new RemoteMemoryException.DamagedPartitionException(
                region,
                partition,
                "the record in slot " + record.place().slot() + " of its log does not follow the one before");
    }

    private PartitionLog with(int laterTail, Collection<LogRecord> added) {
        if (added.isEmpty()) {
            return this;
        }
        Map<Long, LogRecord> nextRows = new LinkedHashMap<>(rows);
        Map<Integer, LogRecord.Moved> nextMoves = new HashMap<>(moves);
        LongHashSet more = new LongHashSet();
        for (LogRecord record : added) {
            if (record.kind() == LogRecord.Kind.REMOVE) {
                nextRows.remove(record.id());
                if (record.moved().tail() > 0) {
                    nextMoves.put(record.moved().partition(), record.moved());
                }
            } else {
                nextRows.put(record.id(), record);
            }
            if (record.kind() != LogRecord.Kind.INSERT && !hidden.contains(record.id())) {
                more.add(record.id());
            }
        }
        int count = records + added.size();
        if (more.isEmpty()) {
            // A graph keeps the answers of a filter: the same filter while its content is the same.
            return new PartitionLog(laterTail, count, nextRows, nextMoves, hidden, alive);
        }
        more.addAll(hidden);
        IdFilter living = IdFilter.of(id -> !more.contains(id)).cached();
        return new PartitionLog(laterTail, count, nextRows, nextMoves, more, living);
    }

    /** Number of slots up to the last record. */
    public int tail() {
        return tail;
    }

    /** Number of records. */
    public int records() {
        return records;
    }

    /** Accepts the live rows of the graph. */
    public IdFilter alive() {
        return alive;
    }

    /** Whether the graph's row of this id was replaced or removed. */
    public boolean hides(long id) {
        return hidden.contains(id);
    }

    /** The rows of the log, oldest first. */
    public Collection<LogRecord> rows() {
        return rows.values();
    }

    /** The last move from here to each other partition. */
    public Collection<LogRecord.Moved> moves() {
        return moves.values();
    }

    /** The row of an id, or null. */
    @org.jspecify.annotations.Nullable
    public LogRecord row(long id) {
        return rows.get(id);
    }

    /** The nearest rows of the log by exhaustive comparison. The query must be {@linkplain RowDistance#inSpace in space}. */
    public SearchResult nearest(float[] query, int k, Metric metric, IdFilter wanted) {
        List<LogRecord> looked = new ArrayList<>(rows.size());
        for (LogRecord row : rows.values()) {
            if (wanted.allows(row.id())) {
                looked.add(row);
            }
        }
        long[] ids = new long[looked.size()];
        float[] distances = new float[ids.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = looked.get(i).id();
            distances[i] = RowDistance.of(metric, query, looked.get(i).vector());
        }
        SearchResult all = SearchResult.sorted(ids, distances);
        return all.size() <= k ? all : new SearchResult(Arrays.copyOf(all.ids(), k), Arrays.copyOf(all.distances(), k));
    }
}
