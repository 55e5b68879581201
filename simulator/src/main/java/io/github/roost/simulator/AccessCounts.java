package io.github.roost.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts of how often a workload's searches read each node or list; no machine is simulated. Immutable.
 *
 * @param tables by bytes read, descending
 */
public record AccessCounts(List<Table> tables) {
    /**
     * One table.
     *
     * @param name its name
     * @param items number of its nodes or lists
     * @param bytes read by searches
     * @param accesses per item that was read at all, descending
     */
    public record Table(String name, long items, long bytes, long[] accesses) {}

    /** The table of a rank by bytes read, from 0. */
    public Table table(int rank) {
        return tables.get(rank);
    }

    /** Counts the reads of the first {@code searches} searches of a workload. */
    public static AccessCounts of(Traces traces, int searches) {
        Requests requests = new Requests(traces);
        List<Traces.Table> all = traces.tables();
        List<Map<Long, long[]>> counts = new ArrayList<>();
        long[] bytes = new long[all.size()];
        all.forEach(table -> counts.add(new HashMap<>()));
        for (int i = 0; i < searches; i++) {
            requests.next();
            int table = requests.table();
            // Searches of the same target and copy read the same items, so they are counted once.
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
