package io.github.roost.index.ivf;

import io.github.roost.core.task.SearchContext;
import java.util.List;

/** Reads one list for the queries that wait for it; one for each kind of element. Thread-safe. */
interface ListScanner {
    /** What scans: the kernel's name. */
    String kernel();

    /** What a scan reads of a row. */
    int rowBytes();

    /**
     * A query of lists of this kind.
     *
     * @param view the lists that it looks at
     */
    IvfQuery<?> query(IvfRequest request, View view);

    /** Scans a list for queries that {@link #query} has made. Those that have failed are left out. */
    void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context);
}
