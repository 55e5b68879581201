package io.github.roost.simulator;

import java.util.List;

/**
 * A task on virtual time: items to read for one query or a group. Items are nodes in any order, or the consecutive blocks of a list; each stands for
 * {@link #weight} items, see {@link Sampling}. Mutable: the simulation advances it.
 */
final class VirtualTask {
    private static final Parameters.LinesInFlight ONE = new Parameters.LinesInFlight(1, 1);

    final int slot;
    final int items;
    /** Number of the search's items that each item stands for. */
    final double weight;

    final long totalBytes;
    final int itemBytes;
    /** First keys of the table's first copy, and of the copy that is read. */
    private final int firstKey;

    private final int copyKey;
    private final int step;
    private final int[] order;
    /** The queries that the task serves; for a task of a batch queue set only when it starts. */
    List<VirtualQuery> queries;
    /** The collectors of the queries, while the task runs. */
    List<NearestSoFar> collectors = List.of();
    /** Rows in each collector before the task. */
    double[] heldBefore = {};
    /** Compute time per item, for all queries. */
    double itemNanos;
    /** Compute time before the first item. */
    double firstNanos;

    Parameters.LinesInFlight inFlight = ONE;
    int next;
    /** When the task began. */
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
     * Creates a task that visits nodes.
     *
     * @param firstKey of the table
     * @param copyKey of the copy that is searched
     * @param nodes a sample of the visited nodes, at least one
     * @param visited number of visited nodes
     */
    static VirtualTask graphSearch(
            int slot, int firstKey, int copyKey, int[] nodes, int visited, int nodeBytes, VirtualQuery query) {
        long bytes = (long) visited * nodeBytes;
        return new VirtualTask(slot, nodes.length, bytes, nodeBytes, firstKey, copyKey, 0, nodes, List.of(query));
    }

    /**
     * Creates a task that scans a list.
     *
     * @param firstKey of the list's first block
     * @param bytes size of the list
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
