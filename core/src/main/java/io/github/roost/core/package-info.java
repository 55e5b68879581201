/** Chiplet-aware submission of searches: {@link io.github.roost.core.Orchestrator} is the way in. */
@NullMarked
package io.github.roost.core;

import org.jspecify.annotations.NullMarked;
