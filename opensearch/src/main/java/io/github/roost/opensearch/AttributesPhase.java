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
 * Adds attributes to the hits of a search, of rows that a table has, where the mapping of a field asks for it. Thread-safe.
 *
 * <p>A sub-phase is told of one hit after the other. Rows of one version, read with one call, take all hits at once: therefore
 * this listens to the fetch as well, of which both run in one thread. Hits within hits are fetched in the same phase and get
 * none.
 */
final class AttributesPhase implements FetchSubPhase, SearchOperationListener {
    /** The search whose hits this thread is about to fetch. */
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
        Set<FieldAttributes> asked = new LinkedHashSet<>();
        for (MappedFieldType type : context.mapperService().fieldTypes()) {
            if (type instanceof RoostVectorType vectors && vectors.attributes() != null) {
                asked.add(vectors.attributes());
            }
        }
        return asked.isEmpty() ? null : HitAttributes.read(tables, asked, search);
    }
}
