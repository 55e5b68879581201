package io.github.roost.index.ivf;

import io.github.roost.core.Neighbors;
import io.github.roost.core.task.SearchContext;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

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
     * @param probed how many of them
     * @param again asked for the answer where rows may be missing; null to go without them
     * @param answer completed with what it finds
     */
    IvfQuery<?> query(
            SearchRequest request,
            View view,
            int probed,
            IvfQuery.@Nullable Again again,
            CompletableFuture<Neighbors> answer);

    /** Scans a list for queries that {@link #query} has made. Those that nobody waits for any more are left out. */
    void scan(RowList list, List<IvfQuery<?>> waiting, SearchContext context);
}
