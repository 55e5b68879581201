package io.github.roost.examples.serve;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a search asks, as its body has it; exactly one of {@code vector} and {@code like} is there.
 *
 * @param vector the query
 * @param like the name of a row of any table, the id of one without a name, or a known phrase; its vector is the query
 * @param k neighbours wanted
 * @param filter what may be found; absent for everything
 * @param deadlineMs milliseconds after which nobody wants the answer; absent for the service's own limit
 * @param ran whether the answer says where it was searched, an entry per table; absent for yes
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
     * Rows that may be found: all conditions given must hold.
     *
     * @param ids only these
     * @param notIds none of these
     * @param nameContains only rows whose name has this in it
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
