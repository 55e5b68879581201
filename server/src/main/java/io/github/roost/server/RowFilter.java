package io.github.roost.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.roost.server.SearchBody.Filter;
import io.github.roost.vector.IdFilter;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The filter of a search: all its conditions must hold. Immutable. */
final class RowFilter {
    private final @Nullable List<JsonNode> ids;
    private final @Nullable List<JsonNode> notIds;
    private final @Nullable String nameContains;
    private final @Nullable RowAttributes attributes;

    /** @throws Problem 400 if an id or a value is of a wrong type */
    RowFilter(Filter requested) {
        this.ids = requested.ids();
        this.notIds = requested.notIds();
        this.nameContains = requested.nameContains();
        this.attributes =
                requested.attributes() == null ? null : RowAttributes.of("filter.attributes", requested.attributes());
        requireIds("filter.ids", ids);
        requireIds("filter.notIds", notIds);
    }

    private static void requireIds(String what, @Nullable List<JsonNode> ids) {
        for (JsonNode id : ids == null ? List.<JsonNode>of() : ids) {
            if (!id.isTextual() && number(id).isEmpty()) {
                throw new Problem(400, what + " must be whole numbers of 64 bits, or texts, got " + id);
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

    /** The filter of a table's rows. */
    IdFilter in(ServedTable table) {
        Set<Long> only = idsIn(table, ids);
        Set<Long> not = idsIn(table, notIds);
        return IdFilter.of(id -> (ids == null || only.contains(id))
                && !not.contains(id)
                && fits(table.item(id).orElse(Item.NONE)));
    }

    private static Set<Long> idsIn(ServedTable table, @Nullable List<JsonNode> ids) {
        Set<Long> found = new HashSet<>();
        for (JsonNode id : ids == null ? List.<JsonNode>of() : ids) {
            (id.isTextual() ? table.idOf(id.asText()) : number(id)).ifPresent(found::add);
        }
        return found;
    }

    private boolean fits(Item item) {
        return (nameContains == null || item.name().contains(nameContains))
                && (attributes == null || item.attributes().have(attributes));
    }
}
