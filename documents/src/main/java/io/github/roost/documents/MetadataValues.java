package io.github.roost.documents;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The values that metadata may have, and the order in which filters compare them. Stateless. */
final class MetadataValues {
    private static final String EXPECTED =
            "expected a String, Boolean, Integer, Long, finite Float or Double, UUID, or a List of these";
    /** Stands for infinity in comparisons: larger than every number that metadata may have. */
    private static final BigDecimal INFINITY = new BigDecimal("1e999");

    private MetadataValues() {}

    /** {@return an unmodifiable copy in the same order} */
    static Map<String, Object> copyOf(Map<String, Object> metadata) {
        Map<String, Object> copy = LinkedHashMap.newLinkedHashMap(metadata.size());
        for (Map.Entry<String, Object> each : metadata.entrySet()) {
            String name = each.getKey();
            if (name == null) {
                throw new IllegalArgumentException("the name of metadata must not be null");
            }
            if (each.getValue() instanceof List<?> list) {
                List<Object> elements = new ArrayList<>();
                for (Object element : list) {
                    elements.add(requireSingle(name, element));
                }
                copy.put(name, List.copyOf(elements));
            } else {
                copy.put(name, requireSingle(name, each.getValue()));
            }
        }
        return Collections.unmodifiableMap(copy);
    }

    static Object requireSingle(String name, @Nullable Object value) {
        boolean isFit = switch (value) {
            case null -> false;
            case String _, Boolean _, Integer _, Long _, UUID _ -> true;
            case Float number -> Float.isFinite(number);
            case Double number -> Double.isFinite(number);
            default -> false;
        };
        if (value == null || !isFit) {
            throw unfit("metadata", name, value, EXPECTED);
        }
        return value;
    }

    /** Checks what a condition compares with, which may be a number that metadata cannot have. */
    static void requireComparable(String name, @Nullable Object value) {
        boolean isFit = switch (value) {
            case null -> false;
            case String _, Boolean _, UUID _ -> true;
            case Byte _, Short _, Integer _, Long _, BigInteger _, BigDecimal _ -> true;
            case Float number -> !Float.isNaN(number);
            case Double number -> !Double.isNaN(number);
            default -> false;
        };
        if (!isFit) {
            throw unfit(
                    "the condition on", name, value, "expected a String, Boolean, UUID, or a number other than NaN");
        }
    }

    private static IllegalArgumentException unfit(String what, String name, @Nullable Object value, String expected) {
        return new IllegalArgumentException(what + " '" + name + "' is " + value
                + (value == null ? "" : " (" + value.getClass().getName() + ")") + ", " + expected);
    }

    /**
     * {@return what stands for a value in comparisons: a String, Boolean, UUID or BigDecimal, each comparable with its own kind} Two numbers are
     * equal if they are whole and equal, or if their decimal texts are, so the float 0.1 equals the double 0.1.
     */
    static Comparable<?> comparable(Object value) {
        return switch (value) {
            case String string -> string;
            case Boolean bool -> bool;
            case UUID uuid -> uuid;
            case Float number when Float.isInfinite(number) -> number > 0 ? INFINITY : INFINITY.negate();
            case Double number when Double.isInfinite(number) -> number > 0 ? INFINITY : INFINITY.negate();
            // The text of a large number has only as many digits as tell it from others of its type.
            case Float number when isWhole(number) -> decimal(new BigDecimal(number));
            case Double number when isWhole(number) -> decimal(new BigDecimal(number));
            default -> decimal(new BigDecimal(value.toString()));
        };
    }

    private static boolean isWhole(double number) {
        return number == Math.rint(number);
    }

    /** 1 and 1.0 become equal, also as keys of a hash map. */
    private static BigDecimal decimal(BigDecimal number) {
        return number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
    }
}
