/** Chiplet-aware scheduling of searches; start at {@link io.github.roost.core.Orchestrator}. */
@NullMarked
package io.github.roost.core;

import org.jspecify.annotations.NullMarked;
