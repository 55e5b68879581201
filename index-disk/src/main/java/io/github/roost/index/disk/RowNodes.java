package io.github.roost.index.disk;

import io.github.roost.neighborhash.NeighborHashMap;

/**
 * The node of each row, by external id: off-heap, 20 to 40 bytes per row. Not thread-safe. A call that throws {@link OutOfMemoryError}
 * has changed nothing. Calls after {@link #close} throw {@link IllegalStateException}.
 */
final class RowNodes implements AutoCloseable {
    static final int NONE = (int) NeighborHashMap.ABSENT;

    private final NeighborHashMap nodes;

    RowNodes() {
        this(0);
    }

    private RowNodes(long expected) {
        this.nodes = NeighborHashMap.builder(expected).build();
    }

    static RowNodes of(ProductCodes codes) {
        RowNodes all = new RowNodes(codes.nodes());
        for (int node = 0; node < codes.nodes(); node++) {
            if (codes.state(node) == ProductCodes.LIVE) {
                all.put(codes.id(node), node);
            }
        }
        return all;
    }

    int size() {
        return (int) nodes.size();
    }

    long bytes() {
        return nodes.memoryBytes();
    }

    /** The {@link #bytes} after {@code more} more rows. */
    long bytesWith(int more) {
        return nodes.memoryBytesWith(more);
    }

    /** The node of a row, or {@link #NONE}. */
    int node(long id) {
        return (int) nodes.get(id, NONE);
    }

    /** Sets the node of a row; returns the previous one, or {@link #NONE}. */
    int put(long id, int node) {
        return (int) nodes.put(id, node);
    }

    /** Removes a row; returns its node, or {@link #NONE}. */
    int remove(long id) {
        return (int) nodes.remove(id);
    }

    @Override
    public void close() {
        nodes.close();
    }
}
