package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The attributes by which rows are filtered. Immutable.
 *
 * @param values the values of each attribute: texts, truth values, and numbers without trailing zeros
 */
record RowAttributes(Map<String, Set<Object>> values) {
    static final RowAttributes NONE = new RowAttributes(Map.of());

    /** The attributes of a row. Those that are neither a text, a number, true or false, nor an array of these are left out. */
    static RowAttributes of(JsonNode attributes) {
        Map<String, Set<Object>> values = new HashMap<>();
        attributes
                .properties()
                .forEach(attribute ->
                        values(attribute.getValue()).ifPresent(found -> values.put(attribute.getKey(), found)));
        return values.isEmpty() ? NONE : new RowAttributes(values);
    }

    /**
     * The attributes of a request.
     *
     * @param what their name in messages
     * @throws Problem 400 if one is neither a text, a number, true or false, nor an array of these
     */
    static RowAttributes of(String what, Map<String, JsonNode> attributes) {
        Map<String, Set<Object>> values = new HashMap<>();
        attributes.forEach((name, value) -> values.put(
                name,
                values(value)
                        .orElseThrow(() -> new Problem(
                                400,
                                what + "." + name
                                        + " must be a text, a number, true or false, or an array of these, got "
                                        + value))));
        return new RowAttributes(values);
    }

    private static Optional<Set<Object>> values(JsonNode value) {
        Set<Object> values = new HashSet<>();
        Iterable<JsonNode> each = value.isArray() ? value : Set.of(value);
        for (JsonNode one : each) {
            if (one.isTextual()) {
                values.add(one.asText());
            } else if (one.isBoolean()) {
                values.add(one.booleanValue());
            } else if (one.isNumber() && Double.isFinite(one.doubleValue())) {
                values.add(one.decimalValue().stripTrailingZeros());
            } else {
                return Optional.empty();
            }
        }
        return Optional.of(values);
    }

    /** Whether each of the wanted attributes has one of the wanted values. */
    boolean have(RowAttributes wanted) {
        return wanted.values.entrySet().stream()
                .noneMatch(attribute ->
                        Collections.disjoint(values.getOrDefault(attribute.getKey(), Set.of()), attribute.getValue()));
    }
}
