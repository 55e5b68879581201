package io.github.roost.bench.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How often a workload's searches read each node or list, without a machine. Immutable.
 *
 * @param tables the table of which most bytes are read first
 */
public record AccessCounts(List<Table> tables) {
    /**
     * One table.
     *
     * @param name its name
     * @param items nodes or lists that it has
     * @param bytes that searches read
     * @param accesses of each item that was read at all, the most first
     */
    public record Table(String name, long items, long bytes, long[] accesses) {}

    /** The table of a rank by bytes, from 0. */
    public Table table(int rank) {
        return tables.get(rank);
    }

    /** Counts what so many searches of a workload read. */
    public static AccessCounts of(Traces traces, int searches) {
        Requests requests = new Requests(traces);
        List<Traces.Table> all = traces.tables();
        List<Map<Long, long[]>> counts = new ArrayList<>();
        long[] bytes = new long[all.size()];
        all.forEach(table -> counts.add(new HashMap<>()));
        for (int i = 0; i < searches; i++) {
            requests.next();
            int table = requests.table();
            // A target of a copy reads the same every time: so it is counted as one.
            long key = (long) requests.copy() << Integer.SIZE | requests.target();
            counts.get(table).computeIfAbsent(key, unseen -> new long[1])[0]++;
            bytes[table] += all.get(table).searchBytes(requests.target());
        }
        List<Table> tables = new ArrayList<>();
        for (int table = 0; table < all.size(); table++) {
            Traces.Table read = all.get(table);
            long items = read.hasLists() ? read.slots() : (long) read.copies() * read.rowCount();
            tables.add(new Table(read.name(), items, bytes[table], accesses(read, counts.get(table))));
        }
        tables.sort(Comparator.comparingLong(Table::bytes).reversed());
        return new AccessCounts(List.copyOf(tables));
    }

    private static long[] accesses(Traces.Table table, Map<Long, long[]> searches) {
        Map<Long, long[]> ofItem = new HashMap<>();
        searches.forEach((key, count) -> {
            long copy = key >>> Integer.SIZE;
            for (int item : table.visits()[key.intValue()]) {
                long where = item < 0 ? ~item : copy << Integer.SIZE | item;
                ofItem.computeIfAbsent(where, unseen -> new long[1])[0] += count[0];
            }
        });
        long[] ascending =
                ofItem.values().stream().mapToLong(count -> count[0]).sorted().toArray();
        long[] descending = new long[ascending.length];
        Arrays.setAll(descending, i -> ascending[ascending.length - 1 - i]);
        return descending;
    }
}
