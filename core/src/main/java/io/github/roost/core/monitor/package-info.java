/** The traffic of searches, summed per window. */
@NullMarked
package io.github.roost.core.monitor;

import org.jspecify.annotations.NullMarked;
