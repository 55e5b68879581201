package io.github.roost.index.hnsw.graph;

import io.github.roost.index.hnsw.search.GraphImage;
import io.github.roost.index.hnsw.search.NodeSet;
import io.github.roost.vector.IdFilter;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Cache of filters evaluated over the rows of one image. The first search with a filter evaluates it for every row; the bit set is
 * cached until the filter object is garbage collected. Thread-safe.
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
     * @param betweenRows runs every few rows; if it throws, the evaluation stops there and the next search continues it
     */
    AllowedRows rowsOf(IdFilter filter, Runnable betweenRows) {
        if (filter == IdFilter.all()) {
            return AllowedRows.ALL;
        }
        AllowedRows rows = compiled.get(filter);
        if (rows == null) {
            rows = ask(filter, betweenRows);
            compiled.put(filter, rows);
        }
        return rows;
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

    /** The rows that a filter allows among the first {@code count} of an image that is still being filled; evaluated every time. */
    AllowedRows rowsAmong(IdFilter filter, int count, Runnable betweenRows) {
        if (filter == IdFilter.all()) {
            return AllowedRows.ALL;
        }
        NodeSet rows = new NodeSet.Asking(image.shape().rows())
                .resume(row -> row < count && filter.allows(image.id(row)), betweenRows);
        return AllowedRows.of(image, rows, betweenRows);
    }
}
