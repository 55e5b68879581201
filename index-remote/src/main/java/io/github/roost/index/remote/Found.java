package io.github.roost.index.remote;

import io.github.roost.core.vector.SearchResult;
import org.jspecify.annotations.Nullable;

/**
 * What a partition has for a query.
 *
 * @param result the nearest rows of it; null where it could not be read
 */
record Found(@Nullable SearchResult result) {
    static final Found MISSING = new Found(null);
}
