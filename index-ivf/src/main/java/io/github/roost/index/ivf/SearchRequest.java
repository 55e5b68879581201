package io.github.roost.index.ivf;

import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What a search is to find, checked.
 *
 * @param vector as rows are stored; not to be changed
 * @param k how many rows at most
 * @param radius how far they may be, infinite for any distance
 * @param filter which ids may be found, null for all
 */
record SearchRequest(
        float[] vector, int k, float radius, @Nullable LongPredicate filter) {}
