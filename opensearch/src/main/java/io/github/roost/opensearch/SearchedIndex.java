package io.github.roost.opensearch;

import org.jspecify.annotations.Nullable;
import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.ReaderContext;
import org.opensearch.search.internal.SearchContext;
import org.opensearch.transport.TransportRequest;

/**
 * Tells which index a thread searches. OpenSearch calls it when a thread takes the reader of a shard, which it then searches, and after the query
 * phase. If a request fails before its query phase, its thread keeps the index until its next search:
 * then slices that it submits meanwhile count for a wrong index, which affects only their order. Thread-safe.
 */
final class SearchedIndex implements SearchOperationListener {
    private static final ThreadLocal<@Nullable SearchedIndex> CURRENT = new ThreadLocal<>();

    private final String index;
    private final boolean roost;

    /**
     * Creates a listener.
     *
     * @param roost whether Roost searches vectors of the index
     */
    SearchedIndex(String index, boolean roost) {
        this.index = index;
        this.roost = roost;
    }

    /** The index that the current thread searches, if Roost searches its vectors; null otherwise. */
    static @Nullable String current() {
        SearchedIndex searched = CURRENT.get();
        return searched != null && searched.roost ? searched.index : null;
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
        CURRENT.set(this);
    }

    /** The current thread searches no index any more. */
    static void end() {
        CURRENT.remove();
    }
}
