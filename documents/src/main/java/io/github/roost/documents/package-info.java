/**
 * An embedded, durable store of documents with vectors: a {@link io.github.roost.documents.DocumentStore} of
 * {@link io.github.roost.documents.DocumentCollection collections}.
 */
@NullMarked
package io.github.roost.documents;

import org.jspecify.annotations.NullMarked;
