package io.github.roost.opensearch;

import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.ReaderContext;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.transport.TransportRequest;

/**
 * Tells which index a thread searches. OpenSearch calls it when a thread takes the reader of a shard, which it then searches, and after the query
 * phase; a request of several vectors calls it itself. If a request fails before its query phase, its thread keeps the index until its next search:
 * then slices that it submits meanwhile count for a wrong index, which affects only their order. Thread-safe.
 */
final class SearchedIndex implements SearchOperationListener {
    /** What a thread searches otherwise. No index can have a name that begins like this. */
    static final String NONE = "_none";

    private static final ThreadLocal<String> CURRENT = ThreadLocal.withInitial(() -> NONE);

    private final String index;

    SearchedIndex(String index) {
        this.index = index;
    }

    /** {@return the index that the current thread searches, or {@link #NONE}} */
    static String current() {
        return CURRENT.get();
    }

    /** Before the query is rewritten, which searches vectors. */
    @Override
    public void onNewReaderContext(ReaderContext context) {
        begin();
    }

    /** The same for the reader of a scroll or of a point in time. */
    @Override
    public void validateReaderContext(ReaderContext context, TransportRequest request) {
        begin();
    }

    @Override
    public void onPreQueryPhase(SearchContext context) {
        begin();
    }

    @Override
    public void onQueryPhase(SearchContext context, long tookInNanos) {
        end();
    }

    @Override
    public void onFailedQueryPhase(SearchContext context) {
        end();
    }

    /** The current thread begins to search the index. */
    void begin() {
        CURRENT.set(index);
    }

    /** The current thread searches no index any more. */
    static void end() {
        CURRENT.remove();
    }
}
