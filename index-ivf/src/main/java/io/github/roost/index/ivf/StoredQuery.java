package io.github.roost.index.ivf;

import io.github.roost.vector.SearchResult;
import io.github.roost.vector.math.NearestRows;

/**
 * A query in stored form, and what its distances to stored rows stand for.
 *
 * @param vector compared with stored rows; not to be changed
 * @param exponent distances to stored rows are those between the vectors as they were passed, multiplied by two to this power
 * @param far the distance between the vectors as they were passed, if that to the stored row is infinite
 */
record StoredQuery(float[] vector, int exponent, float far) {
    /** A query whose distances to stored rows need no change. */
    StoredQuery(float[] vector) {
        this(vector, 0, Float.POSITIVE_INFINITY);
    }

    /** The distance to stored rows that stands for a radius. */
    float storedRadius(float radius) {
        float stored = exponent == 0 ? radius : Math.scalb(radius, exponent);
        // Infinitely far rows are beyond the radius.
        return radius < far ? Math.min(stored, Float.MAX_VALUE) : stored;
    }

    /** A result with the distances between the vectors as they were passed. */
    SearchResult original(SearchResult found) {
        if (exponent == 0) {
            return found;
        }
        long[] ids = found.ids().clone();
        float[] distances = found.distances().clone();
        for (int i = 0; i < distances.length; i++) {
            distances[i] = distances[i] == Float.POSITIVE_INFINITY ? far : Math.scalb(distances[i], -exponent);
        }
        // Distances that were different may be equal now.
        NearestRows.sortTies(ids, distances, ids.length);
        return new SearchResult(ids, distances).with(found.cost(), found.cutShort());
    }
}
