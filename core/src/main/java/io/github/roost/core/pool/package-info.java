/** Workers, their queues, and the life cycle of tasks. */
@NullMarked
package io.github.roost.core.pool;

import org.jspecify.annotations.NullMarked;
