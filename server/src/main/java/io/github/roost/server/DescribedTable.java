package io.github.roost.server;

import io.github.roost.core.Part;
import io.github.roost.core.SearchContext;
import io.github.roost.core.SearchFunction;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.rows.Attributes;
import io.github.roost.server.SearchAnswer.Ran;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.SearchResult;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * A live table with a name and text per row. Thread-safe.
 *
 * <p>Changes are made one at a time, under this object's lock; readers do not lock. A row's words are stored before the row can be found, and
 * removed after it. So a search that found a row just before its removal may miss its words.
 */
final class DescribedTable implements ServedTable {
    private static final int MIN_EF = 64;
    private static final int EF_PER_NEIGHBOR = 4;

    private final LiveTable rows;
    /** The words of the rows at the start. */
    private final ItemRows words;
    /** Ids of the rows that still have their words of the start. */
    private final Set<Long> unchanged = ConcurrentHashMap.newKeySet();

    /** No row with a key is put at a smaller id. */
    private long nextId;

    private final Map<Long, Item> byId = new ConcurrentHashMap<>();
    /** Ids of the rows with a key. */
    private final Map<String, Long> byKey = new ConcurrentHashMap<>();
    /** Rows by name and id; several may have the same name. */
    private final Map<String, ConcurrentNavigableMap<Long, Item>> byName = new ConcurrentHashMap<>();

    /**
     * @param rows the table
     * @param items the words of its present rows, by id
     * @param words the same words, possibly with rows of other tables that have other ids
     */
    DescribedTable(LiveTable rows, Map<Long, Item> items, ItemRows words) {
        this.rows = rows;
        this.words = words;
        this.nextId = Math.max(
                rows.size(),
                1 + items.keySet().stream().mapToLong(Long::longValue).max().orElse(-1));
        unchanged.addAll(items.keySet());
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

    /** A search as one task of one worker, which also reads the words of the rows it finds. */
    Part<SearchRequest, ServedResult> part(SearchRequest request) {
        int ef = request.effortOr(Math.max(MIN_EF, EF_PER_NEIGHBOR * request.k()));
        Part<SearchRequest, SearchResult> part = rows.part(request.effort(ef));
        SearchFunction<SearchRequest, ServedResult> described =
                (requested, context) -> describe(part.searchFunction().search(requested, context), context);
        return new Part<>(described, part.query(), part.mappingId());
    }

    private ServedResult describe(SearchResult result, SearchContext context) throws Exception {
        Attributes.Enriched enriched = words.of(result, context);
        return new ServedResult(
                this,
                result,
                neighbor -> item(enriched, neighbor),
                Ran.by(context.worker(), context.domain(), name(), result.cost()));
    }

    /** The current words of a row that was found, given its words at the start. */
    private Optional<Item> item(Attributes.Enriched found, int neighbor) {
        long id = found.result().ids()[neighbor];
        return found.rows().isPresent(neighbor) && unchanged.contains(id)
                ? Optional.of(ItemRows.item(found.rows(), neighbor))
                : item(id);
    }

    @Override
    public Optional<Item> item(long id) {
        return Optional.ofNullable(byId.get(id));
    }

    @Override
    public Optional<Long> idOfKey(String key) {
        return Optional.ofNullable(byKey.get(key));
    }

    /** {@inheritDoc} If several rows have the name, the one with the largest id. */
    @Override
    public Optional<float[]> vectorOf(String name) {
        return Optional.ofNullable(byKey.get(name))
                .or(() -> Optional.ofNullable(byName.get(name))
                        .map(ConcurrentNavigableMap::lastEntry)
                        .map(Map.Entry::getKey))
                .or(() -> ServedTable.number(name).filter(id -> !byId.containsKey(id)))
                .map(rows::vector);
    }

    /**
     * Puts rows into the table, replacing rows with the same ids, whose keys remain, or with the same keys.
     *
     * @return number of new rows
     * @throws Problem if two are the same row; then none is put. After another failure those before the one that failed are
     */
    synchronized int put(List<NewVector> vectors) {
        long[] ids = idsOf(vectors);
        int added = 0;
        for (int i = 0; i < ids.length; i++) {
            NewVector next = vectors.get(i);
            Item item = next.item();
            long id = ids[i];
            unchanged.remove(id);
            Item old = byId.get(id);
            if (item.key().isEmpty() && old != null) {
                item = item.withKey(old.key());
            }
            added += put(id, next.vector(), item, old) ? 1 : 0;
        }
        return added;
    }

    /** Returns whether the row is new. If it cannot be put, it keeps its words. */
    private boolean put(long id, float[] vector, Item item, @Nullable Item old) {
        byId.put(id, item);
        learn(id, item);
        boolean isPut = false;
        try {
            boolean isNew = rows.put(id, vector);
            isPut = true;
            return isNew;
        } finally {
            if (isPut) {
                forgetName(id, old, item);
            } else {
                forgetName(id, item, old);
                keepWords(id, item, old);
            }
        }
    }

    private void keepWords(long id, Item unfit, @Nullable Item old) {
        if (old != null) {
            byId.put(id, old);
            learn(id, old);
        } else {
            byId.remove(id);
            byKey.remove(unfit.key(), id);
        }
    }

    /** The ids of rows that are put; a new key gets one that no other row has. */
    private long[] idsOf(List<NewVector> vectors) {
        // Each row's id, or its key if that is new.
        Set<Object> all = new LinkedHashSet<>();
        for (NewVector next : vectors) {
            String key = next.item().key();
            Long id = next.id() == null ? byKey.get(key) : next.id();
            if (!all.add(id == null ? key : id)) {
                throw new Problem(
                        422,
                        "vector " + all.size() + " has the id or key of an earlier one, "
                                + (next.id() == null ? key : next.id()));
            }
        }
        return all.stream()
                .mapToLong(row -> row instanceof Long id ? id : newId(all))
                .toArray();
    }

    private long newId(Set<Object> taken) {
        while (rows.vector(nextId) != null || taken.contains(nextId)) {
            nextId++;
        }
        return nextId++;
    }

    /** Removes a row; returns whether there was one. */
    synchronized boolean remove(long id) {
        boolean removed = rows.remove(id);
        unchanged.remove(id);
        Item old = byId.remove(id);
        forgetName(id, old, null);
        if (old != null) {
            byKey.remove(old.key(), id);
        }
        return removed;
    }

    private void learn(long id, Item item) {
        byName.computeIfAbsent(item.name(), name -> new ConcurrentSkipListMap<>())
                .put(id, item);
        if (!item.key().isEmpty()) {
            byKey.put(item.key(), id);
        }
    }

    /** Forgets the name of a row, unless it is that of its other words too. */
    private void forgetName(long id, @Nullable Item item, @Nullable Item other) {
        if (item != null && (other == null || !other.name().equals(item.name()))) {
            byName.computeIfPresent(item.name(), (name, rows) -> {
                rows.remove(id);
                return rows.isEmpty() ? null : rows;
            });
        }
    }
}
