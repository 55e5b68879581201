/** Searches as they are submitted: their steps, options and outcomes. */
@NullMarked
package io.github.roost.core.task;

import org.jspecify.annotations.NullMarked;
