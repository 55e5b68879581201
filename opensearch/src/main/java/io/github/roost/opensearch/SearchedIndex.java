package io.github.roost.opensearch;

import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.SearchContext;

/**
 * Tells which index a thread searches. OpenSearch calls it before and after the query phase of each shard, in the thread that submits the slices.
 * Thread-safe.
 */
final class SearchedIndex implements SearchOperationListener {
    /** The name of no index: what a thread searches outside of a query phase. */
    static final String NONE = "";

    private static final ThreadLocal<String> CURRENT = ThreadLocal.withInitial(() -> NONE);

    private final String index;

    SearchedIndex(String index) {
        this.index = index;
    }

    /** {@return the index that the current thread searches, or {@link #NONE}} */
    static String current() {
        return CURRENT.get();
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
