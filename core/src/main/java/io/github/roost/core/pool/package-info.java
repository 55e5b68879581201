/** Workers: who runs which task, when they sleep and wake, and how they start and end. */
@NullMarked
package io.github.roost.core.pool;

import org.jspecify.annotations.NullMarked;
