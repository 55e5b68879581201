/** The mapping in force, its epochs, and who changes it. */
@NullMarked
package io.github.roost.core.placement;

import org.jspecify.annotations.NullMarked;
