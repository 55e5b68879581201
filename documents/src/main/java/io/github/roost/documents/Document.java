package io.github.roost.documents;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A document and its vector. Immutable, if nobody changes the array.
 *
 * @param id names the document in its collection; not blank
 * @param text the text, or null
 * @param metadata values by name. A value is a {@link String}, {@link Boolean}, {@link Integer}, {@link Long}, finite {@link Float} or
 *     {@link Double}, {@link java.util.UUID}, or a {@link java.util.List} of these; it comes back with its type. Copied
 * @param vector of the dimension of its collection; not copied
 */
public record Document(String id, @Nullable String text, Map<String, Object> metadata, float[] vector) {
    /**
     * Checks all but the vector, which the collection checks.
     *
     * @throws IllegalArgumentException if the id is blank, or a value of the metadata has another type
     */
    public Document {
        Objects.requireNonNull(id, "id must not be null");
        Objects.requireNonNull(metadata, "metadata must not be null");
        Objects.requireNonNull(vector, "vector must not be null");
        if (id.isBlank()) {
            throw new IllegalArgumentException("the id of a document must not be blank, got '" + id + "'");
        }
        metadata = MetadataValues.copyOf(metadata);
    }
}
