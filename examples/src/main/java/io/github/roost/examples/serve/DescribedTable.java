package io.github.roost.examples.serve;

import io.github.roost.core.task.Part;
import io.github.roost.core.task.SearchContext;
import io.github.roost.core.task.SearchFunction;
import io.github.roost.core.vector.SearchRequest;
import io.github.roost.core.vector.SearchResult;
import io.github.roost.examples.serve.SearchAnswer.Ran;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.table.Enriched;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * A live table and what its rows stand for. Thread-safe.
 *
 * <p>Changes are made one at a time, under the lock of this object; readers take none. A row's words are there before
 * the row can be found, and go after it: a search that found a row just before it was removed may miss its words.
 */
final class DescribedTable implements ServedTable {
    private static final int MIN_EF = 64;
    private static final int EF_PER_NEIGHBOUR = 4;

    private final LiveTable rows;
    /** What rows stood for at the start. */
    private final ItemRows words;
    /** Ids of rows that were put since, whose words are others. */
    private final Set<Long> changed = ConcurrentHashMap.newKeySet();

    private final Map<Long, Item> byId = new ConcurrentHashMap<>();
    /** The rows of each name, by id: several may be called the same. */
    private final Map<String, ConcurrentNavigableMap<Long, Item>> byName = new ConcurrentHashMap<>();

    /**
     * @param rows the table
     * @param items what its present rows stand for, by id
     * @param words the same, and maybe of other tables whose ids are others
     */
    DescribedTable(LiveTable rows, Map<Long, Item> items, ItemRows words) {
        this.rows = rows;
        this.words = words;
        byId.putAll(items);
        items.forEach(this::learn);
    }

    @Override
    public LiveTable rows() {
        return rows;
    }

    ItemRows words() {
        return words;
    }

    /** A search as one task of one worker, which reads the words of what it has found at once. */
    Part<SearchRequest, Found> part(SearchRequest request) {
        int ef = Math.max(MIN_EF, EF_PER_NEIGHBOUR * request.k());
        Part<SearchRequest, SearchResult> part = rows.part(request.effort(ef));
        SearchFunction<SearchRequest, Found> described =
                (asked, context) -> describe(part.searchFunction().search(asked, context), context);
        return new Part<>(described, part.query(), part.mappingId());
    }

    private Found describe(SearchResult result, SearchContext context) throws Exception {
        Enriched enriched = words.of(result.neighbors(), context);
        return new Found(
                this,
                result.neighbors(),
                neighbor -> item(enriched, neighbor),
                Ran.by(context.worker(), context.domain(), name(), result.cost()));
    }

    /** What a row that was found stands for, given what it stood for at the start. */
    private Optional<Item> item(Enriched found, int neighbor) {
        long id = found.neighbors().ids()[neighbor];
        return found.rows().isPresent(neighbor) && !changed.contains(id)
                ? Optional.of(ItemRows.item(found.rows(), neighbor))
                : item(id);
    }

    @Override
    public Optional<Item> item(long id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** The vector of the row that is called so; of several that of the largest id; a row without words is called by its id. */
    @Override
    public Optional<float[]> vectorOf(String name) {
        return Optional.ofNullable(byName.get(name))
                .map(ConcurrentNavigableMap::lastEntry)
                .map(Map.Entry::getKey)
                .or(() -> unnamed(name))
                .map(rows::vector);
    }

    private Optional<Long> unnamed(String name) {
        try {
            long id = Long.parseLong(name);
            return byId.containsKey(id) ? Optional.empty() : Optional.of(id);
        } catch (NumberFormatException noId) {
            return Optional.empty();
        }
    }

    /**
     * Puts rows into the table, in the place of those of the same ids.
     *
     * @return how many ids were new
     */
    synchronized int put(List<NewVector> vectors) {
        int added = 0;
        for (NewVector next : vectors) {
            Item item = next.item();
            changed.add(next.id());
            Item old = byId.put(next.id(), item);
            learn(next.id(), item);
            added += rows.put(next.id(), next.vector()) ? 1 : 0;
            forget(next.id(), old);
        }
        return added;
    }

    /** Removes the row of an id; whether there was one. */
    synchronized boolean remove(long id) {
        boolean removed = rows.remove(id);
        changed.add(id);
        forget(id, byId.remove(id));
        return removed;
    }

    private void learn(long id, Item item) {
        byName.computeIfAbsent(item.name(), name -> new ConcurrentSkipListMap<>())
                .put(id, item);
    }

    private void forget(long id, @Nullable Item item) {
        if (item != null) {
            byName.computeIfPresent(item.name(), (name, rows) -> {
                rows.remove(id, item);
                return rows.isEmpty() ? null : rows;
            });
        }
    }
}
