/** OpenSearch nodes with Roost's plugin, as processes of this machine. */
@NullMarked
package io.github.roost.bench.opensearch;

import org.jspecify.annotations.NullMarked;
