package io.github.roost.vector;

import io.github.roost.vector.kernel.FloatOrder;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The nearest rows of one query, nearest first; ties by ascending id. Two results are equal if they have the same rows and distances, whatever
 * they cost. The arrays are not copied; the receiver owns them and may change them. Threads may read concurrently, but not while one changes the
 * arrays.
 *
 * @param ids external ids of the rows
 * @param distances distances of the same length, ascending; smaller is nearer
 * @param cost what the search read and compared
 * @param cutShort whether the search stopped before it had used up its effort: at its visit limit, or because partitions are missing
 */
public record SearchResult(long[] ids, float[] distances, SearchCost cost, boolean cutShort) {
    /** The empty result; shared, since empty arrays cannot be changed. */
    public static final SearchResult EMPTY = new SearchResult(new long[0], new float[0]);

    /** Checks that ids and distances have the same length. */
    public SearchResult {
        if (ids.length != distances.length) {
            throw new IllegalArgumentException(
                    "ids and distances must have one length, got " + ids.length + " and " + distances.length);
        }
        if (cost == null) {
            throw new NullPointerException("cost must not be null");
        }
    }

    /**
     * A result of no cost that is not cut short.
     *
     * @param ids external ids of the rows
     * @param distances distances of the same length, ascending; smaller is nearer
     */
    public SearchResult(long[] ids, float[] distances) {
        this(ids, distances, SearchCost.NONE, false);
    }

    /**
     * Returns the same rows with a cost.
     *
     * @param total the cost
     * @param isCutShort whether the search stopped before it had used up its effort
     * @return the result
     */
    public SearchResult with(SearchCost total, boolean isCutShort) {
        return new SearchResult(ids, distances, total, isCutShort);
    }

    /**
     * Sorts rows by distance, then id.
     *
     * @param ids external ids in any order; copied
     * @param distances their distances, of the same length; copied
     * @return the rows, nearest first
     */
    public static SearchResult sorted(long[] ids, float[] distances) {
        // Distance and position in one long: sorting primitives allocates little and does not box.
        long[] keys = new long[ids.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = (long) ordered(distances[i]) << Integer.SIZE | i;
        }
        Arrays.sort(keys);
        long[] sortedIds = new long[ids.length];
        float[] sortedDistances = new float[ids.length];
        int tiesFrom = 0;
        for (int i = 0; i < keys.length; i++) {
            sortedIds[i] = ids[(int) keys[i]];
            sortedDistances[i] = distances[(int) keys[i]];
            if (i + 1 == keys.length || keys[i] >> Integer.SIZE != keys[i + 1] >> Integer.SIZE) {
                Arrays.sort(sortedIds, tiesFrom, i + 1);
                tiesFrom = i + 1;
            }
        }
        return new SearchResult(sortedIds, sortedDistances);
    }

    /** Returns an int that sorts like the distance, with -0 equal to 0. */
    private static int ordered(float distance) {
        return FloatOrder.key(distance + 0f);
    }

    /**
     * Returns the k nearest of several results by a k-way merge. Costs are added; the result is cut short if one of them is.
     *
     * @param results any number of results, each nearest first
     * @param k the maximum number of rows, at least 0
     * @return at most {@code k} rows, nearest first
     */
    public static SearchResult merge(List<SearchResult> results, int k) {
        record Cursor(SearchResult result, int position) implements Comparable<Cursor> {
            @Override
            public int compareTo(Cursor other) {
                int byDistance = Integer.compare(
                        ordered(result.distances[position]), ordered(other.result.distances[other.position]));
                return byDistance != 0
                        ? byDistance
                        : Long.compare(result.ids[position], other.result.ids[other.position]);
            }
        }
        PriorityQueue<Cursor> cursors = new PriorityQueue<>();
        long total = 0;
        SearchCost cost = SearchCost.NONE;
        boolean cutShort = false;
        for (SearchResult each : results) {
            total += each.size();
            cost = cost.plus(each.cost);
            cutShort |= each.cutShort;
            if (each.size() > 0) {
                cursors.add(new Cursor(each, 0));
            }
        }
        int size = (int) Math.min(k, total);
        long[] ids = new long[size];
        float[] distances = new float[size];
        for (int i = 0; i < size; i++) {
            Cursor next = cursors.remove();
            ids[i] = next.result.ids[next.position];
            distances[i] = next.result.distances[next.position];
            if (next.position + 1 < next.result.size()) {
                cursors.add(new Cursor(next.result, next.position + 1));
            }
        }
        return new SearchResult(ids, distances, cost, cutShort);
    }

    /**
     * Returns the rows within a distance.
     *
     * @param radius the maximum distance, inclusive; infinite for all
     * @return the rows up to the radius, nearest first
     */
    public SearchResult within(float radius) {
        if (ids.length == 0 || distances[ids.length - 1] <= radius) {
            return this;
        }
        int size = 0;
        while (distances[size] <= radius) {
            size++;
        }
        return new SearchResult(Arrays.copyOf(ids, size), Arrays.copyOf(distances, size), cost, cutShort);
    }

    /** {@return the number of rows, at most the k of the request} */
    public int size() {
        return ids.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SearchResult that
                && Arrays.equals(ids, that.ids)
                && Arrays.equals(distances, that.distances);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(ids) + Arrays.hashCode(distances);
    }

    @Override
    public String toString() {
        return "SearchResult" + Arrays.toString(ids) + Arrays.toString(distances);
    }
}
