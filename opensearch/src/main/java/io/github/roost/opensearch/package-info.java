/**
 * Roost inside OpenSearch: {@link io.github.roost.opensearch.RoostPlugin} brings the field type {@code roost_vector}, the query
 * {@code roost_knn}, and one orchestrator per node whose workers run what OpenSearch searches in parallel.
 */
@NullMarked
package io.github.roost.opensearch;

import org.jspecify.annotations.NullMarked;
