package io.github.roost.index.ivf;

import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The task that scans some lists for one query, whatever their mailboxes hold. Told what became of the task, it fails the
 * query if that failed.
 */
final class QueryScan implements SearchFunction<int[], Boolean>, BiConsumer<@Nullable Boolean, @Nullable Throwable> {
    private final ScanQueue queue;
    private final Lists lists;
    private final ListScanner scanner;
    private final IvfQuery<?> query;

    QueryScan(ScanQueue queue, Lists lists, ListScanner scanner, IvfQuery<?> query) {
        this.queue = queue;
        this.lists = lists;
        this.scanner = scanner;
        this.query = query;
    }

    @Override
    public Boolean search(int[] bundle, SearchContext context) {
        List<IvfQuery<?>> alone = List.of(query);
        for (int i = 0; i < bundle.length && !query.answer().isDone(); i++) {
            ListContext ofList = new ListContext(context);
            scanner.scan(lists.rows(bundle[i]), alone, ofList);
            queue.scanned(bundle[i], lists, ofList);
        }
        return true;
    }

    /** The task is complete. */
    @Override
    public void accept(@Nullable Boolean done, @Nullable Throwable failure) {
        if (failure != null) {
            query.answer().completeExceptionally(failure);
        }
    }
}
