package io.github.roost.examples.serve;

import io.github.roost.core.Metric;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a service serves: tables of one dimension and one metric, and phrases whose vectors are known. The set of tables
 * is fixed, their rows are not. Thread-safe.
 */
final class Tables {
    private final Map<String, ServedTable> byName = new LinkedHashMap<>();
    private final Map<String, float[]> phrases;
    private final int dimension;
    private final Metric metric;

    /**
     * @param tables at least one, of different names
     * @param phrases vectors by phrase
     */
    Tables(List<ServedTable> tables, Map<String, float[]> phrases) {
        tables.forEach(table -> byName.put(table.name(), table));
        this.phrases = new LinkedHashMap<>(phrases);
        this.dimension = tables.getFirst().rows().dimension();
        this.metric = tables.getFirst().rows().metric();
    }

    Optional<ServedTable> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** All tables, in the order in which they were given. */
    List<ServedTable> all() {
        return new ArrayList<>(byName.values());
    }

    /** The phrases whose vectors are known, in the order in which they were given. */
    List<String> phrases() {
        return new ArrayList<>(phrases.keySet());
    }

    /** The vector of a known phrase, or of the row that is called so, in whichever table. */
    Optional<float[]> like(String text) {
        float[] phrase = phrases.get(text);
        return phrase != null
                ? Optional.of(phrase)
                : byName.values().stream()
                        .flatMap(table -> table.vectorOf(text).stream())
                        .findFirst();
    }

    Metric metric() {
        return metric;
    }

    int dimension() {
        return dimension;
    }

    long rows() {
        return byName.values().stream().mapToLong(table -> table.rows().size()).sum();
    }

    /** Unregisters all tables. */
    void close() {
        byName.values().forEach(table -> table.rows().close());
    }
}
