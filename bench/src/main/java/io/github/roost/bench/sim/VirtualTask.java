package io.github.roost.bench.sim;

import java.util.List;

/**
 * A task on virtual time: so many items to read, for one query or a group. Items are nodes in any order or the blocks of
 * a list, one after the other; each stands for as many as its weight, see {@link Sampling}. Changed by the simulation as it
 * goes on.
 */
final class VirtualTask {
    private static final Parameters.LinesInFlight ONE = new Parameters.LinesInFlight(1, 1);

    final int slot;
    final int items;
    /** How many items of the search each of these stands for. */
    final double weight;

    final long totalBytes;
    final int itemBytes;
    private final int firstKey;
    private final int step;
    private final int[] order;
    /** Queries that it is done for; of a mailbox's task known only once it starts. */
    List<VirtualQuery> queries;
    /** What keeps the rows that it finds for each of them, while it runs. */
    List<NearestSoFar> collectors = List.of();
    /** What each of them held before. */
    double[] heldBefore = {};
    /** Computing for each item, for all queries. */
    double itemNanos;
    /** Computing before the first item. */
    double firstNanos;

    Parameters.LinesInFlight inFlight = ONE;
    int next;

    private VirtualTask(
            int slot,
            int items,
            long totalBytes,
            int itemBytes,
            int firstKey,
            int step,
            int[] order,
            List<VirtualQuery> queries) {
        this.slot = slot;
        this.items = items;
        this.totalBytes = totalBytes;
        this.itemBytes = itemBytes;
        this.weight = (double) totalBytes / ((long) items * itemBytes);
        this.firstKey = firstKey;
        this.step = step;
        this.order = order;
        this.queries = queries;
    }

    /**
     * Visits nodes.
     *
     * @param nodes a sample of them, at least one
     * @param visited how many there are
     */
    static VirtualTask walk(int slot, int firstKey, int[] nodes, int visited, int nodeBytes, VirtualQuery query) {
        return new VirtualTask(
                slot, nodes.length, (long) visited * nodeBytes, nodeBytes, firstKey, 0, nodes, List.of(query));
    }

    /**
     * Scans a list.
     *
     * @param firstKey of its first block
     * @param bytes its size
     */
    static VirtualTask scan(int slot, int firstKey, long bytes, Sampling sampling, List<VirtualQuery> queries) {
        int blocks = Math.max(1, Math.toIntExact((bytes + Traces.BLOCK_BYTES - 1) / Traces.BLOCK_BYTES));
        int sampled = sampling.countIn(firstKey, blocks);
        return new VirtualTask(
                slot,
                Math.max(1, sampled),
                bytes,
                Traces.BLOCK_BYTES,
                sampled == 0 ? firstKey : sampling.firstFrom(firstKey),
                sampling.every(),
                new int[0],
                queries);
    }

    int key(int item) {
        return order.length == 0 ? firstKey + item * step : firstKey + order[item];
    }
}
