package io.github.roost.documents;

import io.github.roost.core.TableClosedException;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Searches of a collection. A search takes the rows of its filter under the collection's lock, searches without it, and looks its hits up under it:
 * if a change came between, each hit is compared with its document as it is now. If a hit is gone, or there may be more, the search is
 * repeated under the lock, so that it has k hits if there are k.
 */
final class CollectionSearch {
    /** Allowed rows that are compared in Java, rather than by the table: a new filter must be asked about all of the table's rows first. */
    private static final int FEW_OF_NEW_FILTER = 1_000;

    private static final int FEW_OF_KNOWN_FILTER = 32;

    private final CollectionParts parts;
    private final FilterCache filters = new FilterCache();

    CollectionSearch(CollectionParts parts) {
        this.parts = parts;
    }

    static void require(SearchRequest request, @Nullable DocumentFilter filter) {
        if (request.filter() != IdFilter.all()) {
            throw new IllegalArgumentException("a search of documents has a DocumentFilter, not an IdFilter");
        }
        if (filter != null) {
            MetadataIndex.requireShallow(filter);
        }
    }

    List<DocumentCollection.Match> search(SearchRequest request, @Nullable DocumentFilter filter) {
        List<DocumentCollection.Match> matches = tried(request, filter);
        if (matches == null) {
            matches = parts.read(() -> tried(request, filter));
        }
        if (matches == null) {
            throw new IllegalStateException("collection '" + parts.name + "' finds vectors without documents");
        }
        return matches;
    }

    /**
     * What is searched.
     *
     * @param version of the collection
     * @param table null if the collection is empty
     * @param allowed null if all rows are
     */
    private record Searched(long version, @Nullable LiveTable table, FilterCache.@Nullable Rows allowed) {}

    /** {@return the matches, or null if changes during the search may have taken some away} */
    private @Nullable List<DocumentCollection.Match> tried(SearchRequest request, @Nullable DocumentFilter filter) {
        Searched before = parts.read(() -> searched(filter));
        LiveTable table = before.table();
        if (table == null) {
            return List.of();
        }
        SearchResult found = found(table, request, before.allowed());
        return parts.read(() -> {
            parts.requireOpen();
            if (found == null) {
                return null;
            }
            boolean isSame = parts.version == before.version();
            return matches(found, request, isSame ? before.allowed() : allowed(filter), isSame);
        });
    }

    private Searched searched(@Nullable DocumentFilter filter) {
        parts.requireOpen();
        LiveTable table = parts.table;
        return new Searched(parts.version, table, table == null ? null : allowed(filter));
    }

    private FilterCache.@Nullable Rows allowed(@Nullable DocumentFilter filter) {
        return filter == null ? null : filters.rows(filter, parts.version, parts.index());
    }

    /** {@return the rows, or null if the collection was cleared meanwhile} */
    private static @Nullable SearchResult found(
            LiveTable table, SearchRequest request, FilterCache.@Nullable Rows allowed) {
        try {
            if (allowed != null && areFew(allowed)) {
                return FewRows.search(table, request, allowed.set());
            }
            return table.search(allowed == null ? request : request.filter(allowed.filter()))
                    .join();
        } catch (TableClosedException cleared) {
            return null;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof TableClosedException) {
                return null;
            }
            if (failed.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw failed;
        }
    }

    private static boolean areFew(FilterCache.Rows allowed) {
        int few = allowed.filter().isCached() ? FEW_OF_KNOWN_FILTER : FEW_OF_NEW_FILTER;
        return allowed.set().getCardinality() <= few;
    }

    private @Nullable List<DocumentCollection.Match> matches(
            SearchResult found, SearchRequest request, FilterCache.@Nullable Rows allowed, boolean isSame) {
        if (!isSame && !found.cutShort()) {
            int most = allowed == null ? parts.index().size() : allowed.set().getCardinality();
            if (found.size() < Math.min(request.k(), most)) {
                return null;
            }
        }
        List<DocumentCollection.Match> matches = new ArrayList<>(found.size());
        for (int i = 0; i < found.size(); i++) {
            long row = found.ids()[i];
            boolean isAllowed = allowed == null || allowed.set().contains((int) row);
            Document document =
                    isSame ? parts.requireDocument((int) row) : isAllowed ? parts.document((int) row) : null;
            if (document == null) {
                return null;
            }
            float distance = isSame
                    ? found.distances()[i]
                    : Distances.of(parts.store.metric(), request.query(), document.vector());
            if (distance > request.radius()) {
                return null;
            }
            matches.add(new DocumentCollection.Match(document, distance));
        }
        if (!isSame) {
            matches.sort(Comparator.comparingDouble(DocumentCollection.Match::distance));
        }
        return matches;
    }
}
