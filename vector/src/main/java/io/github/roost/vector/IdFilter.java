package io.github.roost.vector;

import java.util.BitSet;
import java.util.Objects;
import java.util.function.LongPredicate;

/**
 * The set of rows that a search may find, by external id. The predicate is asked while a search runs, so a search that begins after a
 * change of the set sees it; only {@link #cached} fixes the answers. A filter may be shared by tables. Thread-safe if the predicate is.
 */
public final class IdFilter {
    private static final IdFilter ALL = new IdFilter(id -> true, true);

    private final LongPredicate allowed;
    private final boolean isCached;

    private IdFilter(LongPredicate allowed, boolean isCached) {
        this.allowed = allowed;
        this.isCached = isCached;
    }

    /** {@return the filter that allows every row} */
    public static IdFilter all() {
        return ALL;
    }

    /**
     * Returns a filter that allows the rows a predicate accepts. A graph search asks about the rows that it finds; if few rows are
     * allowed, every search asks about each row of the table.
     *
     * @param allowed called with external ids, in any order, several times for an id, by several workers at once. Its worker waits for
     *     it, so it should not block. If it throws, the search that called it fails, and no other
     * @return the filter
     */
    public static IdFilter of(LongPredicate allowed) {
        return new IdFilter(Objects.requireNonNull(allowed, "allowed must not be null"), false);
    }

    /**
     * Returns a filter that allows the rows whose id is the index of a set bit.
     *
     * @param ids copied
     * @return the filter, {@linkplain #cached cached}
     */
    public static IdFilter of(BitSet ids) {
        BitSet copy =
                (BitSet) Objects.requireNonNull(ids, "ids must not be null").clone();
        return new IdFilter(id -> id >= 0 && id <= Integer.MAX_VALUE && copy.get((int) id), true);
    }

    /**
     * Returns a filter of a set that does not change, to be shared by many searches. Each HNSW graph asks about all of its rows at the
     * filter's first search, and keeps the answers, up to three bits per row, until the filter is unreachable: changes of the set have no
     * effect on them. Rows that are put or merged into another graph afterwards are asked about anew. Other indexes ask in every search.
     *
     * @return this filter if it is cached, or another one with the same predicate
     */
    public IdFilter cached() {
        return isCached ? this : new IdFilter(allowed, true);
    }

    /** {@return whether an index may keep the answers} */
    public boolean isCached() {
        return isCached;
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
