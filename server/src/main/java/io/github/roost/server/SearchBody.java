package io.github.roost.server;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The body of a search request; has exactly one of {@code vector} and {@code like}.
 *
 * @param vector the query
 * @param like the name of a row of any table, the id of one without a name, or a known phrase; its vector is the query
 * @param k number of neighbors
 * @param filter restricts the rows; absent for all rows
 * @param deadlineMs deadline in milliseconds; absent for the service's own limit
 * @param ran whether the answer has where each table was searched; absent for yes
 */
record SearchBody(
        float @Nullable [] vector,
        @Nullable String like,
        @Nullable Integer k,
        @Nullable Filter filter,
        @Nullable Integer deadlineMs,
        @Nullable Boolean ran) {
    static final int DEFAULT_K = 10;

    /**
     * A filter of rows: all given conditions must hold.
     *
     * @param ids only these
     * @param notIds none of these
     * @param nameContains only rows whose name contains this
     */
    record Filter(
            @Nullable Set<Long> ids,
            @Nullable Set<Long> notIds,
            @Nullable String nameContains) {
        boolean allows(ServedTable table, long id) {
            return (ids == null || ids.contains(id))
                    && (notIds == null || !notIds.contains(id))
                    && (nameContains == null
                            || table.item(id)
                                    .filter(item -> item.name().contains(nameContains))
                                    .isPresent());
        }
    }

    boolean wantsRan() {
        return ran == null || ran;
    }

    int neighbors() {
        return k == null ? DEFAULT_K : k;
    }
}
