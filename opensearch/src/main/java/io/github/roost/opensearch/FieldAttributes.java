package io.github.roost.opensearch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.index.mapper.MapperParsingException;

/**
 * The {@code attributes} option of a field's mapping: the table rows that belong to its documents. Immutable.
 *
 * @param table name of the table
 * @param key name of the integer field whose value is a document's key in the table
 * @param columns columns to add to hits; if empty, all columns
 */
record FieldAttributes(String table, String key, List<String> columns) {
    /** The option's name in a mapping. */
    static final String NAME = "attributes";

    private static final String TABLE = "table";
    private static final String KEY = "key";
    private static final String COLUMNS = "columns";
    private static final Set<String> NAMES = Set.of(TABLE, KEY, COLUMNS);

    FieldAttributes {
        if (!NodeTables.isName(table)) {
            throw new MapperParsingException("attributes must name a table of 1 to " + NodeTables.MAX_NAME
                    + " characters a-z, 0-9, - and _, got " + table);
        }
        columns = List.copyOf(columns);
    }

    /**
     * Parses the option's value; null if the option is not set.
     *
     * @throws MapperParsingException if the value is invalid
     */
    static @Nullable FieldAttributes parse(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (!(value instanceof Map<?, ?> said)) {
            throw new MapperParsingException("attributes must be an object of table, key and columns, got " + value);
        }
        for (Object name : said.keySet()) {
            if (!(name instanceof String known && NAMES.contains(known))) {
                throw new MapperParsingException("attributes must have table, key and columns, got " + name);
            }
        }
        return new FieldAttributes(text(said, TABLE), text(said, KEY), names(said.get(COLUMNS)));
    }

    private static String text(Map<?, ?> said, String name) {
        if (said.get(name) instanceof String text && !text.isEmpty()) {
            return text;
        }
        throw new MapperParsingException("attributes must have a text as " + name + ", got " + said.get(name));
    }

    private static List<String> names(@Nullable Object value) {
        if (value == null) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        if (value instanceof List<?> list) {
            for (Object name : list) {
                if (name instanceof String text && !names.contains(text)) {
                    names.add(text);
                }
            }
            if (names.size() == list.size()) {
                return names;
            }
        }
        throw new MapperParsingException("columns of attributes must be an array of different names, got " + value);
    }

    /** Writes the option's value as in a mapping. */
    static void write(XContentBuilder builder, String name, @Nullable FieldAttributes value) throws IOException {
        if (value != null) {
            builder.startObject(name).field(TABLE, value.table).field(KEY, value.key);
            if (!value.columns.isEmpty()) {
                builder.field(COLUMNS, value.columns);
            }
            builder.endObject();
        }
    }
}
