/** Decisions how much maintenance runs in a worker's stalls; clock readings and measurements are passed in. */
@NullMarked
package io.github.roost.core.stall;

import org.jspecify.annotations.NullMarked;
