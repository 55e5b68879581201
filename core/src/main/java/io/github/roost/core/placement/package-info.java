/** The mapping in force, its epochs, and the mapper that changes it. */
@NullMarked
package io.github.roost.core.placement;

import org.jspecify.annotations.NullMarked;
