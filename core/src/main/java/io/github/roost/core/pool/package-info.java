/** Workers, their rings and the life of a task. */
@NullMarked
package io.github.roost.core.pool;

import org.jspecify.annotations.NullMarked;
