package io.github.roost.bench.orchestration;

import io.github.roost.bench.sim.AccessCounts;
import io.github.roost.bench.sim.Traces;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** How unevenly searches read: the paper's figure 6, of a regime. Stateless. */
final class Popularities {
    private static final int SEARCHES = 20_000;
    private static final double MIN_SHARE = 1e-5;
    private static final int POINTS = 60;

    private Popularities() {}

    /**
     * The share of accesses that the most accessed part of a table's nodes or lists takes.
     *
     * @param table its name
     * @param parts of all nodes or lists, ascending
     * @param accesses the share of each part
     */
    record Curve(String table, double[] parts, double[] accesses) {
        /** The share of accesses of the hottest part. */
        double of(double part) {
            int at = Arrays.binarySearch(parts, part);
            return accesses[Math.min(accesses.length - 1, at < 0 ? -at - 1 : at)];
        }
    }

    /** Of the hottest, the middle and the coldest of some tables. */
    static List<Curve> of(Traces traces) {
        AccessCounts counts = AccessCounts.of(traces, SEARCHES);
        int tables = traces.tables().size();
        return IntStream.of(0, tables / 4, tables / 2)
                .distinct()
                .mapToObj(rank -> curve(counts.table(rank)))
                .toList();
    }

    private static Curve curve(AccessCounts.Table table) {
        long[] most = table.accesses();
        long all = Arrays.stream(most).sum();
        double[] parts = new double[POINTS];
        double[] accesses = new double[POINTS];
        long sum = 0;
        int next = 0;
        for (int point = 0; point < POINTS; point++) {
            parts[point] = Math.pow(MIN_SHARE, 1 - point / (POINTS - 1.0));
            long upTo = Math.round(parts[point] * table.items());
            for (; next < Math.min(upTo, most.length); next++) {
                sum += most[next];
            }
            accesses[point] = (double) sum / all;
        }
        return new Curve(table.name(), parts, accesses);
    }

    /** Bytes that searches read of each table, the most first. */
    static long[] traffic(Traces traces) {
        AccessCounts counts = AccessCounts.of(traces, SEARCHES);
        return IntStream.range(0, traces.tables().size())
                .mapToLong(rank -> counts.table(rank).bytes())
                .toArray();
    }
}
