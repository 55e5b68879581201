package io.github.roost.index.ivf;

import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The validated parameters of a search.
 *
 * @param query the query
 * @param limit max rows of the answer
 * @param k number of rows that have room, at most the limit
 * @param radius max distance to stored rows, infinity for no limit
 * @param filter ids that may be found, null for all
 * @param visitLimit number of compared rows after which no further list is scanned
 * @param spare room beyond k, in case rows are seen twice or are removed before they are reranked
 */
record IvfRequest(
        StoredQuery query,
        int limit,
        int k,
        float radius,
        @Nullable LongPredicate filter,
        long visitLimit,
        int spare) {
    /** Rows that may be added while a search runs before it must scan again with more room. */
    private static final int SPARE = 64;

    /** A search for the k nearest of all rows. */
    static IvfRequest nearest(StoredQuery query, int k) {
        return new IvfRequest(query, k, k, Float.POSITIVE_INFINITY, null, Long.MAX_VALUE, 0);
    }

    /** A caller's search. */
    static IvfRequest of(StoredQuery query, SearchRequest request) {
        IdFilter filter = request.filter();
        return new IvfRequest(
                query,
                request.k(),
                request.k(),
                query.storedRadius(request.radius()),
                filter == IdFilter.all() ? null : filter::allows,
                request.visitLimit(),
                0);
    }

    /** The query in stored form; not to be changed. */
    float[] vector() {
        return query.vector();
    }

    /** Number of rows that collectors keep. */
    int room() {
        return k + spare;
    }

    /** The same request for another scan, with more room as rows were removed or moved meanwhile and more may be. */
    IvfRequest again() {
        return new IvfRequest(query, limit, k, radius, filter, visitLimit, spare + SPARE);
    }

    /** The same request for further scans, after others that have compared {@code rows} rows. */
    IvfRequest after(long rows) {
        return visitLimit == Long.MAX_VALUE
                ? this
                : new IvfRequest(query, limit, k, radius, filter, visitLimit - rows, spare);
    }

    /** The same request with no more room than a table of {@code rows} rows needs: room costs time even if it stays empty. */
    IvfRequest forTableOf(int rows) {
        return rows > limit - SPARE
                ? this
                : new IvfRequest(query, limit, rows + SPARE, radius, filter, visitLimit, spare);
    }

    /** Whether the answer filled its room, which was less than the limit, so that rows may be missing. */
    boolean lacksRoom(int found) {
        return found == k && k < limit;
    }
}
