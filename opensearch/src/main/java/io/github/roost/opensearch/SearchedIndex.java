package io.github.roost.opensearch;

import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.internal.SearchContext;

/**
 * Tells which index a thread searches. OpenSearch calls it before and after the query phase of each shard, in the thread that submits the slices; a
 * request of several vectors calls it itself. Thread-safe.
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
