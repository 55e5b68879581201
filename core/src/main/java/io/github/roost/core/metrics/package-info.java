/** An orchestrator's statistics as Micrometer meters. Needs {@code micrometer-core}, which is an optional dependency. */
@NullMarked
package io.github.roost.core.metrics;

import org.jspecify.annotations.NullMarked;
