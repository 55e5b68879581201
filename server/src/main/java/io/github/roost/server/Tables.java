package io.github.roost.server;

import io.github.roost.vector.Metric;
import io.github.roost.vector.VectorTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The tables of a service, of one dimension and one metric, and the phrases with known vectors. The set of tables is fixed, their rows are not.
 * Thread-safe.
 */
final class Tables {
    private final Map<String, ServedTable> byName = new LinkedHashMap<>();
    private final Map<String, float[]> phrases;
    private final Runnable release;
    private final int dimension;
    private final Metric metric;

    /**
     * @param tables at least one, with different names
     * @param phrases vectors by phrase
     * @param release frees the tables' source when they are closed
     * @throws IllegalArgumentException if tables differ in dimension or metric
     */
    Tables(List<? extends ServedTable> tables, Map<String, float[]> phrases, Runnable release) {
        tables.forEach(table -> requireAlike(tables.getFirst().rows(), table.rows()));
        tables.forEach(table -> byName.put(table.name(), table));
        this.phrases = new LinkedHashMap<>(phrases);
        this.release = release;
        this.dimension = tables.getFirst().rows().dimension();
        this.metric = tables.getFirst().rows().metric();
    }

    private static void requireAlike(VectorTable first, VectorTable other) {
        if (other.dimension() != first.dimension() || other.metric() != first.metric()) {
            throw new IllegalArgumentException(
                    "tables that are served together must have one dimension and metric, got " + describe(first)
                            + " and " + describe(other));
        }
    }

    private static String describe(VectorTable table) {
        return table.name() + " (" + table.dimension() + ", " + table.metric() + ")";
    }

    Optional<ServedTable> find(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /** All tables, in the order in which they were given. */
    List<ServedTable> all() {
        return new ArrayList<>(byName.values());
    }

    /** The phrases with known vectors, in the order in which they were given. */
    List<String> phrases() {
        return new ArrayList<>(phrases.keySet());
    }

    /**
     * The vector of a known phrase, or of the row of this name in any table.
     *
     * @param first tables to prefer if rows of several tables have the name
     */
    Optional<float[]> like(String text, List<ServedTable> first) {
        float[] phrase = phrases.get(text);
        return phrase != null
                ? Optional.of(phrase)
                : Stream.concat(first.stream(), byName.values().stream())
                        .flatMap(table -> table.vectorOf(text).stream())
                        .findFirst();
    }

    /**
     * The vector of the row with an id in any table.
     *
     * @param first tables to prefer if rows of several tables have the id
     */
    Optional<float[]> row(long id, List<ServedTable> first) {
        return Stream.concat(first.stream(), byName.values().stream())
                .map(table -> table.rows().vector(id))
                .filter(Objects::nonNull)
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

    /** Frees all tables and their source. */
    void close() {
        byName.values().forEach(table -> table.rows().close());
        release.run();
    }
}
