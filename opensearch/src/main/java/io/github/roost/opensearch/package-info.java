/**
 * Roost as an OpenSearch plugin: {@link io.github.roost.opensearch.RoostPlugin} adds the field type {@code roost_vector}, the query
 * {@code roost_knn}, and one orchestrator per node, whose workers run concurrent segment searches.
 */
@NullMarked
package io.github.roost.opensearch;

import org.jspecify.annotations.NullMarked;
