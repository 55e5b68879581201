package io.github.roost.opensearch;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opensearch.index.mapper.MappedFieldType;
import org.opensearch.index.shard.SearchOperationListener;
import org.opensearch.search.fetch.FetchContext;
import org.opensearch.search.fetch.FetchSubPhase;
import org.opensearch.search.fetch.FetchSubPhaseProcessor;
import org.opensearch.search.internal.SearchContext;

/**
 * Fetch sub-phase that adds attributes from table rows to hits, if the mapping of a field has {@code attributes}. Thread-safe.
 *
 * <p>A sub-phase gets hits one by one. To read the rows of all hits with one call, and so from one version, this class also
 * listens to the start of the fetch, which runs in the same thread. Inner hits are fetched in the same phase and get no
 * attributes.
 */
final class AttributesPhase implements FetchSubPhase, SearchOperationListener {
    /** The search whose hits this thread will fetch next. */
    private static final ThreadLocal<@Nullable SearchContext> FETCHING = new ThreadLocal<>();

    private final NodeTables tables;

    AttributesPhase(NodeTables tables) {
        this.tables = tables;
    }

    @Override
    public void onPreFetchPhase(SearchContext search) {
        FETCHING.set(search);
    }

    @Override
    public void onFetchPhase(SearchContext search, long tookInNanos) {
        FETCHING.remove();
    }

    @Override
    public void onFailedFetchPhase(SearchContext search) {
        FETCHING.remove();
    }

    @Override
    public @Nullable FetchSubPhaseProcessor getProcessor(FetchContext context) throws IOException {
        SearchContext search = FETCHING.get();
        FETCHING.remove();
        if (search == null) {
            return null;
        }
        Set<FieldAttributes> requested = new LinkedHashSet<>();
        for (MappedFieldType type : context.mapperService().fieldTypes()) {
            if (type instanceof RoostVectorType vectors && vectors.attributes() != null) {
                requested.add(vectors.attributes());
            }
        }
        return requested.isEmpty() ? null : HitAttributes.read(tables, requested, search);
    }
}
