package io.github.roost.server;

import io.github.roost.server.SearchBody.Filter;
import io.github.roost.vector.IdFilter;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** The filter of a search: all its conditions must hold. Immutable. */
final class RowFilter {
    private final @Nullable RowIds ids;
    private final RowIds notIds;
    private final @Nullable String nameContains;
    private final @Nullable RowAttributes attributes;

    /** @throws Problem 400 if an id or a value is of a wrong type */
    RowFilter(Filter requested) {
        this.ids = requested.ids() == null ? null : new RowIds("filter.ids", requested.ids());
        this.notIds = requested.notIds() == null ? RowIds.NONE : new RowIds("filter.notIds", requested.notIds());
        this.nameContains = requested.nameContains();
        this.attributes =
                requested.attributes() == null ? null : RowAttributes.of("filter.attributes", requested.attributes());
    }

    /** The filter of a table's rows. */
    IdFilter in(ServedTable table) {
        LongPredicate only = ids == null ? id -> true : ids.in(table);
        LongPredicate not = notIds.in(table);
        return IdFilter.of(
                id -> only.test(id) && !not.test(id) && fits(table.item(id).orElse(Item.NONE)));
    }

    private boolean fits(Item item) {
        return (nameContains == null || item.name().contains(nameContains))
                && (attributes == null || item.attributes().have(attributes));
    }
}
