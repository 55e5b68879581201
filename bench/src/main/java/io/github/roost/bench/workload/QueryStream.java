package io.github.roost.bench.workload;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The endless stream of a workload's searches: which table, and which of its targets. Tables are popular by Zipf's
 * law or a geometric one, and exchange their popularity as the workload drifts. The same workload gives the same stream. Not thread-safe.
 */
public final class QueryStream {
    private final WorkloadSpec spec;
    private final SplittableRandom random;
    private final Zipf tables;
    private final Zipf targets;
    /** By how many copies there are. */
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
        // Which table is how popular is drawn: not the largest the most.
        for (int rank = tableCount - 1; rank > 0; rank--) {
            exchange(rank, random.nextInt(rank + 1));
        }
    }

    /** Goes on to the next search. */
    public void next() {
        if (spec.driftEvery() > 0 && searches > 0 && searches % spec.driftEvery() == 0) {
            drift();
        }
        searches++;
        table = tableOfRank[tables.rank(random.nextDouble())];
        target = targets.rank(random.nextDouble());
    }

    /** A table of the hotter half and one of the colder half change places, as often as the workload says. */
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

    /** The table that is searched. */
    public int table() {
        return table;
    }

    /** The target that it is asked for. */
    public int target() {
        return target;
    }

    /**
     * The copy, of so many, that this search is of, drawn anew by every call; the first where the workload has none.
     *
     * @param count how many copies the table is laid out as, at least 1
     */
    public int copy(int count) {
        WorkloadSpec.FullSize size = spec.fullSize();
        if (size == null) {
            return 0;
        }
        return copies.computeIfAbsent(count, ranks -> new Zipf(ranks, size.copyExponent()))
                .rank(random.nextDouble());
    }

    /** Nanoseconds to the next arrival of the open loop, drawn anew by every call: exponential, so arrivals are Poisson. */
    public long nanosToNext() {
        return Math.round(-Math.log(1 - random.nextDouble()) / spec.perSecond() * 1e9);
    }
}
