package io.github.roost.vector;

import java.util.BitSet;
import java.util.Objects;
import java.util.function.LongPredicate;

/**
 * The set of rows that a search may find, by external id. An HNSW table asks a filter about each of its rows once, at the filter's first
 * search of the table, and caches the answers as long as the filter is reachable: if several searches allow the same rows, share one
 * filter. Thread-safe if the predicate is.
 */
public final class IdFilter {
    private static final IdFilter ALL = new IdFilter(id -> true);

    private final LongPredicate allowed;

    private IdFilter(LongPredicate allowed) {
        this.allowed = allowed;
    }

    /** {@return the filter that allows every row} */
    public static IdFilter all() {
        return ALL;
    }

    /**
     * Returns a filter that allows the rows a predicate accepts.
     *
     * @param allowed called with external ids, in any order, by several workers at once; must always give the same answer for an id. If it
     *     throws, the search that called it fails
     * @return the filter
     */
    public static IdFilter of(LongPredicate allowed) {
        return new IdFilter(Objects.requireNonNull(allowed, "allowed must not be null"));
    }

    /**
     * Returns a filter that allows the rows whose id is the index of a set bit.
     *
     * @param ids copied
     * @return the filter
     */
    public static IdFilter of(BitSet ids) {
        BitSet copy =
                (BitSet) Objects.requireNonNull(ids, "ids must not be null").clone();
        return new IdFilter(id -> id >= 0 && id <= Integer.MAX_VALUE && copy.get((int) id));
    }

    /**
     * Returns whether a row may be found.
     *
     * @param id the external id of the row
     * @return whether the row may be found
     */
    public boolean allows(long id) {
        return allowed.test(id);
    }
}
