package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.documents.DocumentFilter.And;
import io.github.roost.documents.DocumentFilter.Compare;
import io.github.roost.documents.DocumentFilter.Comparison;
import io.github.roost.documents.DocumentFilter.Contains;
import io.github.roost.documents.DocumentFilter.Exists;
import io.github.roost.documents.DocumentFilter.In;
import io.github.roost.documents.DocumentFilter.Not;
import io.github.roost.documents.DocumentFilter.Or;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Sets of rows beside the conditions, asked of each document. */
class FilterTest {
    @Test
    void theIndexFindsWhatTheConditionsSay() {
        Random random = new Random(5);
        Map<Integer, Map<String, Object>> documents = new HashMap<>();
        MetadataIndex index = new MetadataIndex();
        for (int step = 0; step < 4_000; step++) {
            int row = random.nextInt(200);
            Map<String, Object> old = documents.remove(row);
            if (old != null) {
                index.remove(row, old);
            }
            if (random.nextInt(4) != 0) {
                Map<String, Object> metadata =
                        MadeUpDocuments.document("d" + row, step).metadata();
                documents.put(row, metadata);
                index.add(row, metadata);
            }
            DocumentFilter filter = filter(random, 3);
            assertThat(index.rows(filter).toArray())
                    .as("%s", filter)
                    .containsExactly(documents.entrySet().stream()
                            .filter(each -> meets(each.getValue(), filter))
                            .mapToInt(Map.Entry::getKey)
                            .sorted()
                            .toArray());
            assertThat(index.size()).isEqualTo(documents.size());
        }
        for (Map.Entry<Integer, Map<String, Object>> each : documents.entrySet()) {
            index.remove(each.getKey(), each.getValue());
        }
        assertThat(index.rows(new Exists("a")).isEmpty()).isTrue();
    }

    private static DocumentFilter filter(Random random, int depth) {
        String name = List.of("a", "b", "c", "none").get(random.nextInt(4));
        return switch (random.nextInt(depth == 0 ? 4 : 7)) {
            case 0 ->
                new Compare(
                        name,
                        Comparison.values()[random.nextInt(Comparison.values().length)],
                        MadeUpDocuments.value(random));
            case 1 ->
                new In(
                        name,
                        IntStream.range(0, random.nextInt(4))
                                .mapToObj(_ -> MadeUpDocuments.value(random))
                                .toList());
            case 2 -> new Contains(name, List.of("", "text", "-", "xt 1").get(random.nextInt(4)));
            case 3 -> new Exists(name);
            case 4 -> new And(filter(random, depth - 1), filter(random, depth - 1));
            case 5 -> new Or(filter(random, depth - 1), filter(random, depth - 1));
            default -> new Not(filter(random, depth - 1));
        };
    }

    private static boolean meets(Map<String, Object> metadata, DocumentFilter filter) {
        return switch (filter) {
            case And(DocumentFilter left, DocumentFilter right) -> meets(metadata, left) && meets(metadata, right);
            case Or(DocumentFilter left, DocumentFilter right) -> meets(metadata, left) || meets(metadata, right);
            case Not(DocumentFilter contrary) -> !meets(metadata, contrary);
            case Exists(String name) -> !values(metadata, name).isEmpty();
            case Contains(String name, String part) ->
                values(metadata, name).stream().anyMatch(each -> each instanceof String text && text.contains(part));
            case In(String name, List<?> some) ->
                values(metadata, name).stream().anyMatch(each -> some.stream().anyMatch(one -> equal(each, one)));
            case Compare(String name, Comparison comparison, Object value) ->
                values(metadata, name).stream().anyMatch(each -> {
                    int order = equal(each, value) && comparison == Comparison.EQUAL ? 0 : compare(each, value);
                    return order != UNLIKE
                            && switch (comparison) {
                                case EQUAL -> order == 0;
                                case LESS -> order < 0;
                                case LESS_OR_EQUAL -> order <= 0;
                                case GREATER -> order > 0;
                                case GREATER_OR_EQUAL -> order >= 0;
                            };
                });
        };
    }

    private static final int UNLIKE = Integer.MIN_VALUE;

    private static List<Object> values(Map<String, Object> metadata, String name) {
        Object value = metadata.get(name);
        if (value instanceof List<?> list) {
            return new ArrayList<>(list);
        }
        return value == null ? List.of() : List.of(value);
    }

    private static int compare(Object a, Object b) {
        if (a instanceof Number && b instanceof Number) {
            return new BigDecimal(a.toString()).compareTo(new BigDecimal(b.toString()));
        }
        if (a instanceof String x && b instanceof String y) {
            return Integer.signum(x.compareTo(y));
        }
        if (a instanceof UUID x && b instanceof UUID y) {
            return x.compareTo(y);
        }
        return a instanceof Boolean x && b instanceof Boolean y ? x.compareTo(y) : UNLIKE;
    }

    private static boolean equal(Object a, Object b) {
        return compare(a, b) == 0 || (a instanceof String && b instanceof UUID && a.equals(b.toString()));
    }

    @Test
    void tooDeepIsRefused() {
        DocumentFilter deep = new Exists("a");
        for (int i = 0; i < 2_000; i++) {
            deep = new Not(deep);
        }
        DocumentFilter deeper = deep;
        assertThatThrownBy(() -> MetadataIndex.requireShallow(deeper))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1000 deep");
    }

    @Test
    void wholeNumbersAreEqualWhateverTheirType() {
        MetadataIndex index = new MetadataIndex();
        index.add(1, Map.of("a", 0x1p60, "b", 0x1p31f));
        index.add(2, Map.of("a", 1L << 60, "b", 1L << 31));
        index.add(3, Map.of("a", (1L << 60) - 1, "b", .1f));
        for (Object number : List.of(0x1p60, 1L << 60, BigInteger.ONE.shiftLeft(60))) {
            assertThat(index.rows(new Compare("a", Comparison.EQUAL, number)).toArray())
                    .containsExactly(1, 2);
            assertThat(index.rows(new Compare("a", Comparison.LESS, number)).toArray())
                    .containsExactly(3);
        }
        assertThat(index.rows(new In("b", List.of(0x1p31))).toArray()).containsExactly(1, 2);
        assertThat(index.rows(new Compare("b", Comparison.EQUAL, .1)).toArray()).containsExactly(3);
    }

    @Test
    void conditionsCompareWithNumbersThatMetadataCannotHave() {
        MetadataIndex index = new MetadataIndex();
        index.add(1, Map.of("a", 20));
        index.add(2, Map.of("a", Double.MAX_VALUE));
        index.add(3, Map.of("a", "text"));
        for (Object twenty : List.of((byte) 20, (short) 20, BigInteger.valueOf(20), new BigDecimal("20.00"))) {
            assertThat(index.rows(new Compare("a", Comparison.EQUAL, twenty)).toArray())
                    .containsExactly(1);
            assertThat(index.rows(new In("a", List.of(twenty))).toArray()).containsExactly(1);
        }
        for (Object infinity : List.of(Double.POSITIVE_INFINITY, Float.POSITIVE_INFINITY)) {
            assertThat(index.rows(new Compare("a", Comparison.LESS, infinity)).toArray())
                    .containsExactly(1, 2);
            assertThat(index.rows(new Compare("a", Comparison.EQUAL, infinity)).toArray())
                    .isEmpty();
        }
        for (Object infinity : List.of(Double.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY)) {
            assertThat(index.rows(new Compare("a", Comparison.GREATER, infinity))
                            .toArray())
                    .containsExactly(1, 2);
            assertThat(index.rows(new Compare("a", Comparison.LESS_OR_EQUAL, infinity))
                            .toArray())
                    .isEmpty();
        }
        assertThatThrownBy(() -> new Compare("a", Comparison.LESS, Double.NaN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a' is NaN");
    }

    @Test
    void tooManyConditionsAreRefusedAlsoIfTheyAreShared() {
        DocumentFilter shared = new Exists("a");
        for (int i = 0; i < 500; i++) {
            shared = new Or(shared, shared);
        }
        DocumentFilter huge = shared;
        assertThatThrownBy(() -> MetadataIndex.requireShallow(huge))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("100000 conditions");
    }
}
