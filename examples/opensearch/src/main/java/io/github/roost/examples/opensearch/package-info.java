/** OpenSearch nodes with Roost's plugin, as processes of this machine. */
@NullMarked
package io.github.roost.examples.opensearch;

import org.jspecify.annotations.NullMarked;
