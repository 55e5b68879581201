package io.github.roost.core.vector;

import java.util.BitSet;
import java.util.function.LongPredicate;

/**
 * Which rows a search may find, by external id. A table of graphs asks a filter about each of its rows once, at the filter's
 * first search of that table, and keeps the answers as long as the filter lives: make one filter per set of rows, not per
 * search, where the set stays the same. Thread-safe if the predicate is.
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
     * The rows that a predicate accepts.
     *
     * @param allowed asked for external ids, in any order, by several workers at once; must always answer the same. What it
     *     throws fails the search that asked
     * @return the filter
     */
    public static IdFilter of(LongPredicate allowed) {
        if (allowed == null) {
            throw new NullPointerException("the predicate of a filter must not be null");
        }
        return new IdFilter(allowed);
    }

    /**
     * The rows whose id is the index of a set bit.
     *
     * @param ids copied
     * @return the filter
     */
    public static IdFilter of(BitSet ids) {
        BitSet copy = (BitSet) ids.clone();
        return new IdFilter(id -> id >= 0 && id <= Integer.MAX_VALUE && copy.get((int) id));
    }

    /**
     * Asks about one row.
     *
     * @param id external id
     * @return whether it may be found
     */
    public boolean allows(long id) {
        return allowed.test(id);
    }
}
