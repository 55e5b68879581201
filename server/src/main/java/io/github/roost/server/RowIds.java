package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;

/** The ids and keys of rows that a request names. Only keys take memory per table, as many as it has. Immutable. */
final class RowIds {
    static final RowIds NONE = new RowIds("none", List.of());

    private final Set<Long> numbers = new HashSet<>();
    private final List<String> texts = new ArrayList<>();
    /** The texts that are numbers: ids where they are not keys. */
    private final Set<Long> numbersOfTexts = new HashSet<>();

    /** @throws Problem 400 if one is of a wrong type */
    RowIds(String what, List<JsonNode> ids) {
        for (JsonNode id : ids) {
            if (id.isTextual()) {
                texts.add(id.asText());
                ServedTable.number(id.asText()).ifPresent(numbersOfTexts::add);
            } else {
                numbers.add(number(id)
                        .orElseThrow(() ->
                                new Problem(400, what + " must be whole numbers of 64 bits, or texts, got " + id)));
            }
        }
    }

    /** The number of an id; empty if it is none of 64 bits. */
    static Optional<Long> number(JsonNode id) {
        try {
            return id.isNumber() ? Optional.of(new BigDecimal(id.asText()).longValueExact()) : Optional.empty();
        } catch (ArithmeticException | NumberFormatException noLong) {
            return Optional.empty();
        }
    }

    /** Whether they name a row of a table. */
    LongPredicate in(ServedTable table) {
        Set<Long> ofKeys = new HashSet<>();
        Set<Long> keys = new HashSet<>();
        for (String text : texts) {
            table.idOfKey(text).ifPresent(id -> {
                ofKeys.add(id);
                ServedTable.number(text).ifPresent(keys::add);
            });
        }
        return id -> numbers.contains(id) || ofKeys.contains(id) || (numbersOfTexts.contains(id) && !keys.contains(id));
    }
}
