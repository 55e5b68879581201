package io.github.roost.simulator.workload;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The endless stream of a workload's searches: per search a table and one of its targets. The popularity of tables follows Zipf's law or a geometric
 * law; with drift, tables swap their popularity. The same workload gives the same stream. Not thread-safe.
 */
public final class QueryStream {
    private final WorkloadSpec spec;
    private final SplittableRandom random;
    private final Zipf tables;
    private final Zipf targets;
    /** By number of copies. */
    private final Map<Integer, Zipf> copies = new HashMap<>();

    private final int[] tableOfRank;
    private long searches;
    private int table;
    private int target;

    public QueryStream(WorkloadSpec spec, int tableCount) {
        this.spec = spec;
        this.random = new SplittableRandom(spec.seed());
        this.tables = switch (spec.popularity()) {
            case ZIPF -> new Zipf(tableCount, Zipf.exponentOf(tableCount, spec.trafficSpan()));
            case GEOMETRIC -> Zipf.geometric(tableCount, spec.trafficSpan());
        };
        this.targets = new Zipf(spec.targets(), spec.targetExponent());
        this.tableOfRank = new int[tableCount];
        for (int rank = 0; rank < tableCount; rank++) {
            tableOfRank[rank] = rank;
        }
        // The popularity ranks are shuffled, so that popularity does not follow the table's size.
        for (int rank = tableCount - 1; rank > 0; rank--) {
            exchange(rank, random.nextInt(rank + 1));
        }
    }

    /** Advances to the next search. */
    public void next() {
        if (spec.driftEvery() > 0 && searches > 0 && searches % spec.driftEvery() == 0) {
            drift();
        }
        searches++;
        table = tableOfRank[tables.rank(random.nextDouble())];
        target = targets.rank(random.nextDouble());
    }

    /** Swaps random pairs of a table of the hotter half and one of the colder half. */
    private void drift() {
        int half = tableOfRank.length / 2;
        for (int swap = 0; swap < spec.driftSwaps() && half > 0; swap++) {
            exchange(random.nextInt(half), half + random.nextInt(tableOfRank.length - half));
        }
    }

    private void exchange(int a, int b) {
        int before = tableOfRank[a];
        tableOfRank[a] = tableOfRank[b];
        tableOfRank[b] = before;
    }

    /** The table of the current search. */
    public int table() {
        return table;
    }

    /** The target of the current search. */
    public int target() {
        return target;
    }

    /**
     * Draws the copy of the table that this search reads; a new draw per call. Always 0 if the workload is not of full size.
     *
     * @param count copies of the table, at least 1
     */
    public int copy(int count) {
        WorkloadSpec.FullSize size = spec.fullSize();
        if (size == null) {
            return 0;
        }
        return copies.computeIfAbsent(count, ranks -> new Zipf(ranks, size.copyExponent()))
                .rank(random.nextDouble());
    }

    /** Draws the nanoseconds to the next arrival of the open loop; a new draw per call. They are exponential, so arrivals are Poisson. */
    public long nanosToNext() {
        return Math.round(-Math.log(1 - random.nextDouble()) / spec.perSecond() * 1e9);
    }
}
