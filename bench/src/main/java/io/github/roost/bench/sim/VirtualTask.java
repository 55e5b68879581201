package io.github.roost.bench.sim;

import java.util.List;

/**
 * A task on virtual time: so many items to read, for one query or a group. Items are nodes in any order or the blocks of
 * a list, one after the other. Changed by the simulation as it goes on.
 */
final class VirtualTask {
    final int slot;
    final int items;
    private final int firstKey;
    private final int[] order;
    private final int itemBytes;
    private final int lastBytes;
    /** Queries that it is done for; of a mailbox's task known only once it starts. */
    List<VirtualQuery> queries;

    int next;

    private VirtualTask(
            int slot, int items, int firstKey, int[] order, int itemBytes, int lastBytes, List<VirtualQuery> queries) {
        this.slot = slot;
        this.items = items;
        this.firstKey = firstKey;
        this.order = order;
        this.itemBytes = itemBytes;
        this.lastBytes = lastBytes;
        this.queries = queries;
    }

    /** Visits nodes. */
    static VirtualTask walk(int slot, int firstKey, int[] nodes, int nodeBytes, VirtualQuery query) {
        return new VirtualTask(slot, nodes.length, firstKey, nodes, nodeBytes, nodeBytes, List.of(query));
    }

    /** Scans a list of so many bytes. */
    static VirtualTask scan(int slot, int firstKey, long bytes, List<VirtualQuery> queries) {
        int blocks = Math.toIntExact((bytes + Traces.BLOCK_BYTES - 1) / Traces.BLOCK_BYTES);
        int last = Math.toIntExact(bytes - (blocks - 1L) * Traces.BLOCK_BYTES);
        return new VirtualTask(slot, blocks, firstKey, new int[0], Traces.BLOCK_BYTES, last, queries);
    }

    int key(int item) {
        return firstKey + (order.length == 0 ? item : order[item]);
    }

    int bytes(int item) {
        return item == items - 1 ? lastBytes : itemBytes;
    }

    long totalBytes() {
        return items == 0 ? 0 : (items - 1L) * itemBytes + lastBytes;
    }
}
