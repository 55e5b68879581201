package io.github.roost.springai;

import io.github.roost.documents.DocumentFilter;
import io.github.roost.documents.DocumentFilter.And;
import io.github.roost.documents.DocumentFilter.Compare;
import io.github.roost.documents.DocumentFilter.Comparison;
import io.github.roost.documents.DocumentFilter.Exists;
import io.github.roost.documents.DocumentFilter.In;
import io.github.roost.documents.DocumentFilter.Not;
import io.github.roost.documents.DocumentFilter.Or;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Date;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.vectorstore.filter.Filter;

/** Spring AI's filter expressions as Roost's filters. Stateless. */
final class Expressions {
    /** As Spring AI's own stores keep dates. */
    private static final DateTimeFormatter DATES =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss'Z'").withZone(ZoneOffset.UTC);

    private Expressions() {}

    /** How deep conditions may be nested. */
    private static final int MAX_DEPTH = 1_000;

    static DocumentFilter documentFilter(Filter.Expression expression) {
        return documentFilter(expression, 0);
    }

    private static DocumentFilter documentFilter(Filter.Expression expression, int depth) {
        if (depth > MAX_DEPTH) {
            throw new IllegalArgumentException("a filter may be nested " + MAX_DEPTH + " deep, this one is deeper");
        }
        return switch (expression.type()) {
            case AND -> new And(operand(expression.left(), depth + 1), operand(expression.right(), depth + 1));
            case OR -> new Or(operand(expression.left(), depth + 1), operand(expression.right(), depth + 1));
            case NOT -> new Not(operand(expression.left(), depth + 1));
            case EQ -> equal(expression);
            case NE -> new Not(equal(expression));
            case GT -> compare(expression, Comparison.GREATER);
            case GTE -> compare(expression, Comparison.GREATER_OR_EQUAL);
            case LT -> compare(expression, Comparison.LESS);
            case LTE -> compare(expression, Comparison.LESS_OR_EQUAL);
            case IN -> in(expression);
            case NIN -> new Not(in(expression));
            case ISNULL -> new Not(new Exists(key(expression.left())));
            case ISNOTNULL -> new Exists(key(expression.left()));
        };
    }

    private static DocumentFilter operand(Filter.@Nullable Operand operand, int depth) {
        return switch (operand) {
            case Filter.Group group -> operand(group.content(), depth + 1);
            case Filter.Expression expression -> documentFilter(expression, depth);
            case null, default -> throw unexpected("an expression or a group", operand);
        };
    }

    private static DocumentFilter equal(Filter.Expression expression) {
        Object value = constant(expression.right());
        String key = key(expression.left());
        return value == null ? new Not(new Exists(key)) : new Compare(key, Comparison.EQUAL, value);
    }

    private static DocumentFilter compare(Filter.Expression expression, Comparison comparison) {
        Object value = constant(expression.right());
        if (value == null) {
            throw unexpected("a value", expression.right());
        }
        return new Compare(key(expression.left()), comparison, value);
    }

    private static DocumentFilter in(Filter.Expression expression) {
        if (constant(expression.right()) instanceof List<?> values) {
            return new In(key(expression.left()), values);
        }
        throw unexpected("a list of values", expression.right());
    }

    /** The parser leaves the quotes around a name that needs them. */
    private static String key(Filter.@Nullable Operand operand) {
        if (!(operand instanceof Filter.Key named)) {
            throw unexpected("a key", operand);
        }
        String key = named.key();
        int end = key.length() - 1;
        boolean isQuoted =
                end > 0 && key.charAt(0) == key.charAt(end) && (key.charAt(0) == '"' || key.charAt(0) == '\'');
        return isQuoted ? key.substring(1, end) : key;
    }

    private static @Nullable Object constant(Filter.@Nullable Operand operand) {
        if (operand instanceof Filter.Value constant) {
            return value(constant.value());
        }
        throw unexpected("a value", operand);
    }

    /** {@return a value as it is kept and compared} */
    static @Nullable Object value(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Date date -> DATES.format(date.toInstant());
            case List<?> list -> list.stream().map(Expressions::value).toList();
            default -> value;
        };
    }

    private static IllegalArgumentException unexpected(String expected, Filter.@Nullable Operand operand) {
        return new IllegalArgumentException("a filter has " + operand + " where " + expected + " is expected");
    }
}
