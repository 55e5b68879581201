/** OpenSearch nodes with the plugin as local processes. */
@NullMarked
package io.github.roost.testkit.opensearch;

import org.jspecify.annotations.NullMarked;
