package io.github.roost.examples.serve;

import io.github.roost.index.hnsw.LiveTable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
final class ServedTable {
    private final LiveTable rows;
    private final Map<Long, Item> byId = new ConcurrentHashMap<>();
    /** The rows of each name, by id: several may be called the same. */
    private final Map<String, ConcurrentNavigableMap<Long, Item>> byName = new ConcurrentHashMap<>();

    /**
     * @param rows the table
     * @param items what its present rows stand for, by id
     */
    ServedTable(LiveTable rows, Map<Long, Item> items) {
        this.rows = rows;
        byId.putAll(items);
        items.forEach(this::learn);
    }

    LiveTable rows() {
        return rows;
    }

    String name() {
        return rows.name();
    }

    Optional<Item> item(long id) {
        return Optional.ofNullable(byId.get(id));
    }

    /** The vector of the row that is called so; of several that of the largest id; a row without words is called by its id. */
    Optional<float[]> vectorOf(String name) {
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
