package io.github.roost.index.ivf;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What a search is to find, checked.
 *
 * @param vector as rows are stored; not to be changed
 * @param limit how many rows at most were asked for
 * @param k how many rows there is room for, at most the limit
 * @param radius how far they may be, infinite for any distance
 * @param filter which ids may be found, null for all
 * @param spare rows beyond these to choose from, should some be met twice, or be gone when they are compared
 */
record SearchRequest(
        float[] vector,
        int limit,
        int k,
        float radius,
        @Nullable LongPredicate filter,
        int spare) {
    /** Rows that may be added while a search runs before it has to be done again, with more room. */
    private static final int SPARE = 64;

    SearchRequest(float[] vector, int limit, int k, float radius, @Nullable LongPredicate filter) {
        this(vector, limit, k, radius, filter, 0);
    }

    /** How many rows are kept to choose from. */
    int room() {
        return k + spare;
    }

    /** The same once more, where rows have gone or moved meanwhile and more of them may. */
    SearchRequest again() {
        return new SearchRequest(vector, limit, k, radius, filter, spare + SPARE);
    }

    /** With no more room than a table of so many rows needs: room costs time, even if nothing comes to fill it. */
    SearchRequest forTableOf(int rows) {
        return rows > limit - SPARE ? this : new SearchRequest(vector, limit, rows + SPARE, radius, filter, spare);
    }

    /** Whether among so many found rows there was no room for others that were asked for. */
    boolean lacksRoom(int found) {
        return found == k && k < limit;
    }
}
