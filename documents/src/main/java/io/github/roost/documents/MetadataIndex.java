package io.github.roost.documents;

import io.github.roost.documents.DocumentFilter.And;
import io.github.roost.documents.DocumentFilter.Compare;
import io.github.roost.documents.DocumentFilter.Contains;
import io.github.roost.documents.DocumentFilter.Exists;
import io.github.roost.documents.DocumentFilter.In;
import io.github.roost.documents.DocumentFilter.Not;
import io.github.roost.documents.DocumentFilter.Or;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.roaringbitmap.RoaringBitmap;

/**
 * The rows that have each value of metadata, in memory: a filter becomes a set of rows without a look at the documents. Not thread-safe: its
 * owner locks.
 */
final class MetadataIndex {
    /** How deep conditions may be nested. */
    private static final int MAX_DEPTH = 1_000;
    /** How many conditions a filter may have: one that is part of several is asked for each of these. */
    private static final int MAX_CONDITIONS = 100_000;

    /** Not changed. */
    private static final RoaringBitmap NO_ROWS = new RoaringBitmap();

    private final RoaringBitmap all = new RoaringBitmap();
    private final Map<String, Values> names = new HashMap<>();

    /** The rows of one name, by kind of value and value. */
    private static final class Values {
        private final Map<Class<?>, NavigableMap<Comparable<?>, RoaringBitmap>> kinds = new HashMap<>();

        NavigableMap<Comparable<?>, RoaringBitmap> of(Comparable<?> value) {
            return kinds.getOrDefault(value.getClass(), new TreeMap<>());
        }

        void add(Comparable<?> value, int row) {
            kinds.computeIfAbsent(value.getClass(), _ -> new TreeMap<>())
                    .computeIfAbsent(value, _ -> new RoaringBitmap())
                    .add(row);
        }

        void remove(Comparable<?> value, int row) {
            NavigableMap<Comparable<?>, RoaringBitmap> kind = of(value);
            kind.computeIfPresent(value, (_, rows) -> {
                rows.remove(row);
                return rows.isEmpty() ? null : rows;
            });
            if (kind.isEmpty()) {
                kinds.remove(value.getClass());
            }
        }
    }

    void add(int row, Map<String, Object> metadata) {
        all.add(row);
        metadata.forEach((name, value) -> {
            Values values = names.computeIfAbsent(name, _ -> new Values());
            for (Object each : elements(value)) {
                values.add(MetadataValues.comparable(each), row);
            }
        });
    }

    void remove(int row, Map<String, Object> metadata) {
        all.remove(row);
        metadata.forEach((name, value) -> {
            Values values = names.get(name);
            if (values == null) {
                return;
            }
            for (Object each : elements(value)) {
                values.remove(MetadataValues.comparable(each), row);
            }
            if (values.kinds.isEmpty()) {
                names.remove(name);
            }
        });
    }

    private static Collection<?> elements(Object value) {
        return value instanceof List<?> list ? list : List.of(value);
    }

    /** {@return the number of rows} */
    int size() {
        return all.getCardinality();
    }

    /** {@return all rows, as a copy} */
    RoaringBitmap all() {
        return all.clone();
    }

    /**
     * Checks a filter, before something calls itself as often as its conditions are nested.
     *
     * @throws IllegalArgumentException if its conditions are nested too deep, or too many
     */
    static void requireShallow(DocumentFilter filter) {
        Deque<DocumentFilter> level = new ArrayDeque<>(List.of(filter));
        int conditions = 0;
        for (int depth = 0; !level.isEmpty(); depth++) {
            if (depth > MAX_DEPTH) {
                throw new IllegalArgumentException(
                        "the conditions of a filter may be nested " + MAX_DEPTH + " deep, these are deeper");
            }
            for (int i = level.size(); i > 0; i--) {
                if (++conditions > MAX_CONDITIONS) {
                    throw new IllegalArgumentException(
                            "a filter may have " + MAX_CONDITIONS + " conditions, this one has more");
                }
                switch (level.remove()) {
                    case And(DocumentFilter left, DocumentFilter right) -> level.addAll(List.of(left, right));
                    case Or(DocumentFilter left, DocumentFilter right) -> level.addAll(List.of(left, right));
                    case Not(DocumentFilter contrary) -> level.add(contrary);
                    default -> {}
                }
            }
        }
    }

    /** {@return the rows that meet a filter, as a copy; its conditions must not be nested too deep} */
    RoaringBitmap rows(DocumentFilter filter) {
        return switch (filter) {
            case And(DocumentFilter left, DocumentFilter right) -> RoaringBitmap.and(rows(left), rows(right));
            case Or(DocumentFilter left, DocumentFilter right) -> RoaringBitmap.or(rows(left), rows(right));
            case Not(DocumentFilter contrary) -> RoaringBitmap.andNot(all, rows(contrary));
            case Compare(String name, DocumentFilter.Comparison comparison, Object value) ->
                compared(name, comparison, MetadataValues.comparable(value));
            case In(String name, List<?> values) -> in(name, values);
            case Contains(String name, String part) -> containing(name, part);
            case Exists(String name) -> existing(name);
        };
    }

    private RoaringBitmap compared(String name, DocumentFilter.Comparison comparison, Comparable<?> value) {
        Values values = names.get(name);
        if (values == null) {
            return new RoaringBitmap();
        }
        NavigableMap<Comparable<?>, RoaringBitmap> kind = values.of(value);
        return switch (comparison) {
            case EQUAL -> equal(values, value);
            case LESS -> union(kind.headMap(value, false).values());
            case LESS_OR_EQUAL -> union(kind.headMap(value, true).values());
            case GREATER -> union(kind.tailMap(value, false).values());
            case GREATER_OR_EQUAL -> union(kind.tailMap(value, true).values());
        };
    }

    private RoaringBitmap in(String name, List<?> candidates) {
        RoaringBitmap rows = new RoaringBitmap();
        Values values = names.get(name);
        if (values != null) {
            for (Object candidate : candidates) {
                rows.or(equal(values, MetadataValues.comparable(candidate)));
            }
        }
        return rows;
    }

    private RoaringBitmap containing(String name, String part) {
        RoaringBitmap rows = new RoaringBitmap();
        Values values = names.get(name);
        if (values != null) {
            values.of(part).forEach((text, some) -> {
                if (text instanceof String string && string.contains(part)) {
                    rows.or(some);
                }
            });
        }
        return rows;
    }

    private RoaringBitmap existing(String name) {
        RoaringBitmap rows = new RoaringBitmap();
        Values values = names.get(name);
        if (values != null) {
            values.kinds.values().forEach(kind -> rows.or(union(kind.values())));
        }
        return rows;
    }

    /** The UUID of a condition equals its text too. */
    private static RoaringBitmap equal(Values values, Comparable<?> value) {
        RoaringBitmap rows = values.of(value).getOrDefault(value, NO_ROWS).clone();
        if (value instanceof UUID uuid) {
            String text = uuid.toString();
            rows.or(values.of(text).getOrDefault(text, NO_ROWS));
        }
        return rows;
    }

    private static RoaringBitmap union(Collection<RoaringBitmap> some) {
        return RoaringBitmap.or(some.iterator());
    }
}
