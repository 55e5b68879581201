package io.github.roost.index.ivf;

import io.github.roost.core.SearchContext;
import java.util.List;

/** Scans one list for the queries that wait for it; one implementation per kind of element. Thread-safe. */
interface ListScanner {
    /** Bytes that a scan reads per row. */
    int rowBytes();

    /**
     * A query of lists of this kind.
     *
     * @param view the lists to scan
     */
    IvfQuery<?> query(IvfRequest request, IvfRows.View view);

    /** Scans a list for queries that {@link #query} has made, except queries that are over. */
    void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context);
}
