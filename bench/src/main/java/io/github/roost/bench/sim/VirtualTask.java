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
    /** Of the first copy of the table, and of the one that is read. */
    private final int firstKey;

    private final int copyKey;
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
    /** When its first item was read. */
    double began;

    private VirtualTask(
            int slot,
            int items,
            long totalBytes,
            int itemBytes,
            int firstKey,
            int copyKey,
            int step,
            int[] order,
            List<VirtualQuery> queries) {
        this.slot = slot;
        this.items = items;
        this.totalBytes = totalBytes;
        this.itemBytes = itemBytes;
        this.weight = (double) totalBytes / ((long) items * itemBytes);
        this.firstKey = firstKey;
        this.copyKey = copyKey;
        this.step = step;
        this.order = order;
        this.queries = queries;
    }

    /**
     * Visits nodes.
     *
     * @param firstKey of the table
     * @param copyKey of the copy that is searched
     * @param nodes a sample of them, at least one
     * @param visited how many there are
     */
    static VirtualTask walk(
            int slot, int firstKey, int copyKey, int[] nodes, int visited, int nodeBytes, VirtualQuery query) {
        long bytes = (long) visited * nodeBytes;
        return new VirtualTask(slot, nodes.length, bytes, nodeBytes, firstKey, copyKey, 0, nodes, List.of(query));
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
                0,
                sampled == 0 ? firstKey : sampling.firstFrom(firstKey),
                sampling.every(),
                new int[0],
                queries);
    }

    int key(int item) {
        if (order.length == 0) {
            return copyKey + item * step;
        }
        int node = order[item];
        return node < 0 ? firstKey + ~node : copyKey + node;
    }
}
