package io.github.roost.index.disk;

import java.util.BitSet;
import java.util.function.LongPredicate;

/**
 * Which rows of one table a search may find. Made once by {@link DiskTable#filter}, and of use for any number of searches of that
 * table. Thread-safe.
 */
public final class DiskFilter {
    private final DiskTable table;
    private final BitSet nodes;
    private final int count;

    DiskFilter(DiskTable table, Codes codes, LongPredicate allowed) {
        this.table = table;
        this.nodes = new BitSet(codes.layout().nodes());
        for (int node = 0; node < codes.layout().nodes(); node++) {
            if (allowed.test(codes.id(node))) {
                nodes.set(node);
            }
        }
        this.count = nodes.cardinality();
    }

    /** {@return rows that it allows} */
    public int count() {
        return count;
    }

    boolean isOf(DiskTable other) {
        return table == other;
    }

    boolean allows(int node) {
        return nodes.get(node);
    }

    /** The next node from one on that is allowed, or -1. */
    int next(int node) {
        return nodes.nextSetBit(node);
    }
}
