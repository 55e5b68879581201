package io.github.roost.index.hnsw;

import io.github.roost.core.vector.IdFilter;
import io.github.roost.index.hnsw.walk.GraphImage;
import io.github.roost.index.hnsw.walk.NodeSet;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * What filters have answered about the rows of one image: each is asked about every row once, at its first search, and its
 * answers are kept as long as it lives. Thread-safe.
 */
final class CompiledFilters {
    private final GraphImage image;
    private final Map<IdFilter, AllowedRows> compiled = Collections.synchronizedMap(new WeakHashMap<>());

    /** What searches that were no longer wanted have asked so far. */
    private final Map<IdFilter, NodeSet.Asking> unfinished = Collections.synchronizedMap(new WeakHashMap<>());

    CompiledFilters(GraphImage image) {
        this.image = image;
    }

    /**
     * The rows that a filter allows.
     *
     * @param betweenRows runs every few rows; what it throws ends the asking, and the next search goes on from there
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

    /** Two threads may come here at once and find the same: one goes on with what was begun, the other begins anew. */
    private AllowedRows ask(IdFilter filter, Runnable betweenRows) {
        NodeSet.Asking begun = unfinished.remove(filter);
        NodeSet.Asking asking = begun == null ? new NodeSet.Asking(image.shape().rows()) : begun;
        boolean finished = false;
        try {
            AllowedRows rows =
                    AllowedRows.of(image, asking.goOn(row -> filter.allows(image.id(row)), betweenRows), betweenRows);
            finished = true;
            return rows;
        } finally {
            if (!finished) {
                unfinished.put(filter, asking);
            }
        }
    }

    /** Of an image that is still being filled only the first {@code count} rows, asked about each time. */
    AllowedRows rowsAmong(IdFilter filter, int count, Runnable betweenRows) {
        if (filter == IdFilter.all()) {
            return AllowedRows.ALL;
        }
        NodeSet rows = new NodeSet.Asking(image.shape().rows())
                .goOn(row -> row < count && filter.allows(image.id(row)), betweenRows);
        return AllowedRows.of(image, rows, betweenRows);
    }
}
