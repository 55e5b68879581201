/** What is submitted: searches, their steps, options and outcomes. */
@NullMarked
package io.github.roost.core.task;

import org.jspecify.annotations.NullMarked;
