package io.github.roost.documents;

import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import io.github.roost.vector.Vectors;
import java.util.Arrays;
import org.roaringbitmap.IntIterator;
import org.roaringbitmap.RoaringBitmap;

/** Compares a query with each of a few rows, in the caller's thread: a graph would ask about all rows to find them. Stateless. */
final class FewRows {
    private FewRows() {}

    /** {@return the nearest of the rows that the table has, exactly} */
    static SearchResult search(LiveTable table, SearchRequest request, RoaringBitmap rows) {
        Metric metric = table.metric();
        float[] query = request.query();
        Vectors.require("query", query, table.dimension(), metric);
        int minEffort = table.minEffort(request.k());
        Vectors.requireRange("ef", request.effortOr(minEffort), minEffort, table.maxEffort());
        if (metric == Metric.COSINE) {
            // As the table has its rows.
            query = Vectors.normalized(query);
        }
        long[] ids = new long[rows.getCardinality()];
        float[] distances = new float[ids.length];
        int count = 0;
        for (IntIterator each = rows.getIntIterator(); each.hasNext(); ) {
            int row = each.next();
            float[] vector = table.vector(row);
            if (vector == null) {
                // Removed meanwhile.
                continue;
            }
            float distance = Distances.ofRow(metric, query, vector);
            if (distance <= request.radius()) {
                ids[count] = row;
                distances[count++] = distance;
            }
        }
        SearchResult all = SearchResult.sorted(Arrays.copyOf(ids, count), Arrays.copyOf(distances, count));
        int k = Math.min(request.k(), count);
        return new SearchResult(Arrays.copyOf(all.ids(), k), Arrays.copyOf(all.distances(), k));
    }
}
