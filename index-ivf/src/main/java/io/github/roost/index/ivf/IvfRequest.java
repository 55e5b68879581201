package io.github.roost.index.ivf;

import io.github.roost.core.vector.IdFilter;
import io.github.roost.core.vector.SearchRequest;
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
 * @param visitLimit how many rows may be compared before lists that are not begun are left out
 * @param spare rows beyond these to choose from, should some be met twice, or be gone when they are compared
 */
record IvfRequest(
        float[] vector,
        int limit,
        int k,
        float radius,
        @Nullable LongPredicate filter,
        long visitLimit,
        int spare) {
    /** Rows that may be added while a search runs before it has to be done again, with more room. */
    private static final int SPARE = 64;

    /** The k nearest of all rows. */
    static IvfRequest nearest(float[] vector, int k) {
        return new IvfRequest(vector, k, k, Float.POSITIVE_INFINITY, null, Long.MAX_VALUE, 0);
    }

    /** What a caller asks for. */
    static IvfRequest of(float[] prepared, SearchRequest asked) {
        IdFilter filter = asked.filter();
        return new IvfRequest(
                prepared,
                asked.k(),
                asked.k(),
                asked.radius(),
                filter == IdFilter.all() ? null : filter::allows,
                asked.visitLimit(),
                0);
    }

    /** How many rows are kept to choose from. */
    int room() {
        return k + spare;
    }

    /** The same once more, where rows have gone or moved meanwhile and more of them may. */
    IvfRequest again() {
        return new IvfRequest(vector, limit, k, radius, filter, visitLimit, spare + SPARE);
    }

    /** With no more room than a table of so many rows needs: room costs time, even if nothing comes to fill it. */
    IvfRequest forTableOf(int rows) {
        return rows > limit - SPARE
                ? this
                : new IvfRequest(vector, limit, rows + SPARE, radius, filter, visitLimit, spare);
    }

    /** Whether among so many found rows there was no room for others that were asked for. */
    boolean lacksRoom(int found) {
        return found == k && k < limit;
    }
}
