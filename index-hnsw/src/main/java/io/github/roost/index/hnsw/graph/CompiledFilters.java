package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.vector.IdFilter;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Evaluates filters over the rows of one image. The rows of a cached filter are kept until the filter object is garbage collected.
 * Thread-safe.
 */
final class CompiledFilters {
    private final GraphImage image;
    private final Map<IdFilter, AllowedRows> compiled = Collections.synchronizedMap(new WeakHashMap<>());

    /** Evaluations begun by searches that expired before they were complete. */
    private final Map<IdFilter, NodeSet.Asking> unfinished = Collections.synchronizedMap(new WeakHashMap<>());

    CompiledFilters(GraphImage image) {
        this.image = image;
    }

    /**
     * The rows that a filter allows.
     *
     * @param alive the rows to ask about if the filter is not cached; the others are not allowed
     * @param betweenRows runs every few rows; if it throws, the evaluation stops there, and the next search continues a cached filter's
     */
    AllowedRows rowsOf(IdFilter filter, NodeSet alive, Runnable betweenRows) {
        if (filter == IdFilter.all()) {
            return AllowedRows.ALL;
        }
        // Of a filter that is not cached there are no rows, but looking for them drops those of unreachable filters.
        AllowedRows rows = compiled.get(filter);
        if (rows == null && filter.isCached()) {
            rows = ask(filter, betweenRows);
            compiled.put(filter, rows);
        }
        return rows == null ? rowsAmong(filter, alive, 0, image.shape().rows(), betweenRows) : rows;
    }

    /** Of two threads here at once, one continues the unfinished evaluation and the other starts over; both get the same rows. */
    private AllowedRows ask(IdFilter filter, Runnable betweenRows) {
        NodeSet.Asking begun = unfinished.remove(filter);
        NodeSet.Asking asking = begun == null ? new NodeSet.Asking(image.shape().rows()) : begun;
        boolean finished = false;
        try {
            AllowedRows rows =
                    AllowedRows.of(image, asking.resume(row -> filter.allows(image.id(row)), betweenRows), betweenRows);
            finished = true;
            return rows;
        } finally {
            if (!finished) {
                unfinished.put(filter, asking);
            }
        }
    }

    /** The rows from {@code from} to {@code to} exclusive that are alive and that a filter allows; evaluated every time. */
    AllowedRows rowsAmong(IdFilter filter, NodeSet alive, int from, int to, Runnable betweenRows) {
        if (filter == IdFilter.all()) {
            return AllowedRows.ALL;
        }
        NodeSet rows = new NodeSet.Asking(image.shape().rows(), from, to)
                .resume(row -> row >= from && alive.contains(row) && filter.allows(image.id(row)), betweenRows);
        return AllowedRows.of(image, rows, betweenRows);
    }
}
