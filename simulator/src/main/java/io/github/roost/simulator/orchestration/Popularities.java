package io.github.roost.simulator.orchestration;

import io.github.roost.simulator.AccessCounts;
import io.github.roost.simulator.Traces;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The skew of the reads of searches: the paper's figure 6, for a regime. Stateless. */
final class Popularities {
    private static final int SEARCHES = 20_000;
    private static final double MIN_SHARE = 1e-5;
    private static final int POINTS = 60;

    private Popularities() {}

    /**
     * The share of accesses of the most accessed part of a table's nodes or lists.
     *
     * @param table its name
     * @param parts fractions of all nodes or lists, ascending
     * @param accesses the share of accesses of each part
     */
    record Curve(String table, double[] parts, double[] accesses) {}

    /**
     * The curves of the table with the most traffic, and of the tables at a quarter and a half of the ranking by
     * traffic.
     */
    static List<Curve> of(Traces traces) {
        AccessCounts counts = AccessCounts.of(traces, SEARCHES);
        int tables = traces.tables().size();
        return IntStream.of(0, tables / 4, tables / 2)
                .distinct()
                .mapToObj(rank -> curve(counts.table(rank)))
                .toList();
    }

    private static Curve curve(AccessCounts.Table table) {
        long[] descending = table.accesses();
        long all = Arrays.stream(descending).sum();
        double[] parts = new double[POINTS];
        double[] accesses = new double[POINTS];
        long sum = 0;
        int next = 0;
        for (int point = 0; point < POINTS; point++) {
            parts[point] = Math.pow(MIN_SHARE, 1 - point / (POINTS - 1.0));
            long upTo = Math.round(parts[point] * table.items());
            for (; next < Math.min(upTo, descending.length); next++) {
                sum += descending[next];
            }
            accesses[point] = (double) sum / all;
        }
        return new Curve(table.name(), parts, accesses);
    }
}
