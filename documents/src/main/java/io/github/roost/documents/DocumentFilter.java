package io.github.roost.documents;

import java.util.List;
import java.util.Objects;

/**
 * A condition on the metadata of documents. Numbers of all types are compared by value, and the {@link java.util.UUID} of a condition equals its text. A value of
 * another kind than the condition's does not meet it, and neither does a missing one: only {@link Not} is met by these. Of a list, one element must meet the condition. Immutable.
 */
public sealed interface DocumentFilter {
    /** How a value is compared. */
    enum Comparison {
        /** As large. */
        EQUAL,
        /** Smaller. */
        LESS,
        /** Smaller, or as large. */
        LESS_OR_EQUAL,
        /** Larger. */
        GREATER,
        /** Larger, or as large. */
        GREATER_OR_EQUAL
    }

    /**
     * Compares a value. Texts are ordered by their UTF-16 code units, and false is less than true.
     *
     * @param name names the value
     * @param comparison how
     * @param value what with
     */
    record Compare(String name, Comparison comparison, Object value) implements DocumentFilter {
        /**
         * Checks the value.
         *
         * @throws IllegalArgumentException if it is no String, Boolean, UUID or number, or is NaN
         */
        public Compare {
            Objects.requireNonNull(name, "name must not be null");
            Objects.requireNonNull(comparison, "comparison must not be null");
            MetadataValues.requireComparable(name, value);
        }
    }

    /**
     * Requires one of several values.
     *
     * @param name names the value
     * @param values the values; copied
     */
    record In(String name, List<?> values) implements DocumentFilter {
        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException if one is no String, Boolean, UUID or number, or is NaN
         */
        public In {
            Objects.requireNonNull(name, "name must not be null");
            Objects.requireNonNull(values, "values must not be null");
            for (Object value : values) {
                MetadataValues.requireComparable(name, value);
            }
            values = List.copyOf(values);
        }
    }

    /**
     * Requires a text that contains another one.
     *
     * @param name names the text
     * @param part the other text
     */
    record Contains(String name, String part) implements DocumentFilter {
        /** Checks that both are there. */
        public Contains {
            Objects.requireNonNull(name, "name must not be null");
            Objects.requireNonNull(part, "part must not be null");
        }
    }

    /**
     * Requires any value.
     *
     * @param name names the value
     */
    record Exists(String name) implements DocumentFilter {
        /** Checks that it is there. */
        public Exists {
            Objects.requireNonNull(name, "name must not be null");
        }
    }

    /**
     * Requires both.
     *
     * @param left a condition
     * @param right a condition
     */
    record And(DocumentFilter left, DocumentFilter right) implements DocumentFilter {
        /** Checks that both are there. */
        public And {
            Objects.requireNonNull(left, "left must not be null");
            Objects.requireNonNull(right, "right must not be null");
        }
    }

    /**
     * Requires one of two.
     *
     * @param left a condition
     * @param right a condition
     */
    record Or(DocumentFilter left, DocumentFilter right) implements DocumentFilter {
        /** Checks that both are there. */
        public Or {
            Objects.requireNonNull(left, "left must not be null");
            Objects.requireNonNull(right, "right must not be null");
        }
    }

    /**
     * Requires the contrary.
     *
     * @param filter a condition
     */
    record Not(DocumentFilter filter) implements DocumentFilter {
        /** Checks that it is there. */
        public Not {
            Objects.requireNonNull(filter, "filter must not be null");
        }
    }
}
